import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Returns a port of the loopback address that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo; // It listens on TCP.
  probe.close();
  return port;
}
