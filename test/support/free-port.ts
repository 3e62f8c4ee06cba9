import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Returns a port of the loopback address that nothing listens on. Another program may take it first; tests then fail. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo; // It listens on TCP.
  probe.close();
  return port;
}
