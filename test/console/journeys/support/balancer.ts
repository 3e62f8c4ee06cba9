/** A load balancer before several processes of the service, as a rolling restart needs it. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Balancer = { url: string; close(): Promise<void> };

/** Passes each connection to the first of the ports, as they are now, that takes it. */
export async function startBalancer(readPorts: () => number[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client.on('error', () => {}).on('close', () => sockets.delete(client)));
    pass(client, readPorts());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: it listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function pass(client: Socket, [port, ...others]: number[]): void {
  if (port === undefined) {
    client.destroy();
    return;
  }
  const upstream = connect(port, '127.0.0.1');
  let isConnected = false;
  upstream.on('connect', () => {
    isConnected = true;
    client.pipe(upstream).pipe(client);
  });
  upstream.on('error', () => (isConnected ? client.destroy() : pass(client, others)));
  upstream.on('close', () => isConnected && client.destroy());
  client.on('close', () => upstream.destroy());
}
