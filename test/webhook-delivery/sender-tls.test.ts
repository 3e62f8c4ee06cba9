import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { type Handler, startRawReceiver, startReceiver } from '../support/receiver.ts';
import { CLOSED, closeAfterTest, expectNoResponse, IDLE_MS, openSender, sendOnce, sleep } from './fixtures/senders.ts';

function fixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
}
const tls = { key: fixture('self-signed.key.pem'), cert: fixture('self-signed.cert.pem') };

describe('TLS', () => {
  const authorities = getCACertificates('default');
  afterEach(() => setDefaultCACertificates(authorities));

  test('refuses a self-signed certificate, even if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    const receiver = await closeAfterTest(startReceiver(undefined, { tls }));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expectNoResponse(await sendOnce(receiver.url), 'TLS: the certificate is self-signed');
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    expect(receiver.requests).toEqual([]);
  });

  test('refuses the certificate of another host', async () => {
    setDefaultCACertificates([tls.cert]);
    const receiver = await closeAfterTest(startReceiver(undefined, { tls }));
    const outcome = await sendOnce(`https://other.test:${receiver.port}/`);
    expectNoResponse(outcome, 'TLS: the certificate is for another host');
    expect(receiver.requests).toEqual([]);
  });

  test.each(['receiver.test', 'receiver.test.', 'RECEIVER.test', '127.0.0.1'])(
    'sends to %s with a trusted certificate, skips interim responses and reuses the connection',
    async (host) => {
      setDefaultCACertificates([tls.cert]);
      const answer: Handler = (_request, response) => {
        response.writeContinue();
        response.end();
      };
      const receiver = await closeAfterTest(startReceiver(answer, { tls }));
      const sender = openSender();
      for (let round = 0; round < 2; round++) {
        const url = `https://${host}:${receiver.port}/`;
        expect(await sender.send({ url, headers: {}, body: '{}' })).toMatchObject({ status: 200 });
        await sleep(IDLE_MS);
      }
      expect(receiver.connections).toHaveLength(1);
    },
  );

  test('sends the host of the URL as the server name', async () => {
    const names: string[] = [];
    const server = createServer({
      ...tls,
      SNICallback(name, callback) {
        names.push(name);
        callback(null);
      },
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await sendOnce(`https://receiver.test.:${port}/`);
    await new Promise((resolve) => server.close(resolve));
    expect(names).toEqual(['receiver.test']);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ])('reports a receiver that %s the connection in the handshake', async (_name, onConnection) => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => void socket.once('data', () => onConnection(socket))),
    );
    expectNoResponse(await sendOnce(receiver.url.replace('http:', 'https:')), CLOSED);
    expect(receiver.connections).toHaveLength(1);
  });

  test('reports a receiver that does not use TLS', async () => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    expectNoResponse(await sendOnce(receiver.url.replace('http:', 'https:')), 'TLS: the handshake failed');
  });
});
