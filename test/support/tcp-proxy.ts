/** A network between the application and its database that a test can break. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type TcpProxy = {
  /** The URL that leads through the proxy. */
  url: string;
  /**
   * Swallows all further bytes of the connections that are open now, in both directions, and keeps them open: the
   * network has forgotten them. New connections work.
   */
  forgetConnections(): void;
  /** Swallows the bytes of all connections, also of new ones, until `repair` is called. */
  breakDown(): void;
  /** Resets the connections that are open now. */
  resetConnections(): void;
  /** Resets all connections, and refuses new ones until `repair` is called. */
  refuse(): void;
  /** Lets new connections work. What was swallowed is lost. */
  repair(): void;
  close(): Promise<void>;
};

type Link = { sockets: Socket[]; isForgotten: boolean };

/** `rewrite` changes what clients send. */
export async function startTcpProxy(
  targetUrl: string,
  rewrite: (chunk: Buffer) => Buffer = (chunk) => chunk,
): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const links = new Set<Link>();
  let isBroken = false;
  let isRefusing = false;
  const server = createServer((client) => {
    if (isRefusing) return client.resetAndDestroy();
    const upstream = connect(Number(target.port), target.hostname);
    const link: Link = { sockets: [client, upstream], isForgotten: isBroken };
    links.add(link);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (chunk: Buffer) => link.isForgotten || to.write(from === client ? rewrite(chunk) : chunk));
      // If the network has forgotten a connection, the other side does not learn that it has ended.
      from.on('end', () => link.isForgotten || to.end());
      from.on('error', () => link.isForgotten || to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port); // It listens on TCP.
  const forgetConnections = (): void => {
    for (const link of links) link.isForgotten = true;
  };
  const resetConnections = (): void => {
    for (const { sockets } of links) for (const socket of sockets) socket.resetAndDestroy();
    links.clear();
  };
  return {
    url: url.href,
    forgetConnections,
    resetConnections,
    refuse() {
      isRefusing = true;
      resetConnections();
    },
    breakDown() {
      isBroken = true;
      forgetConnections();
    },
    repair() {
      isBroken = false;
      isRefusing = false;
    },
    async close() {
      for (const { sockets } of links) for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
