/** The time that one request may wait for the database covers opening connections. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createRequestBounds, runCall } from '../../src/core/call-bounds.ts';
import { openDatabase } from '../../src/db/client.ts';
import { DatabaseTimeoutError } from '../../src/db/refused-calls.ts';

/** Accepts connections and never answers, like a PostgreSQL that is stopped. */
async function startSilentServer() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://user:password@127.0.0.1:${port}/lynxroom`,
    sockets,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test('a request that has waited for its whole time opens no further connection', async () => {
  const server = await startSilentServer();
  const db = openDatabase({ connectionString: server.url, poolSize: 4, requestTimeoutMs: 200, onError: () => {} });
  const query = (): Promise<unknown> => db.$queryRaw`select 1`;
  try {
    await runCall(
      createRequestBounds(new AbortController().signal, 'a request'),
      { feature: 'test', isRead: true },
      async () => {
        // The connection would be given up after 4 s.
        await expect(query()).rejects.toBeInstanceOf(DatabaseTimeoutError);
        expect(server.sockets).toHaveLength(1);
        await expect(query()).rejects.toBeInstanceOf(DatabaseTimeoutError);
        await expect(query()).rejects.toBeInstanceOf(DatabaseTimeoutError);
        expect(server.sockets).toHaveLength(1);
      },
    );
  } finally {
    server.close();
    await db.$disconnect();
  }
});
