import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to outgoing connections and to servers on port 0 (from 32768), so that none of these
 * takes the port before the caller does.
 */
const [MIN, MAX] = [12_000, 32_000];

/** Returns a port of the loopback address that is free now, which is not returned again. */
export async function freePort(): Promise<number> {
  const port = randomInt(MIN, MAX);
  return !returned.has(port) && (await isFree(port)) ? port : freePort();
}

const returned = new Set<number>();

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  returned.add(port);
  probe.close();
  await once(probe, 'close');
  return true;
}
