import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { KEEP_ALIVE_MS } from '../../src/webhook-delivery/http-sender.ts';
import { startRawReceiver, startReceiver } from '../support/receiver.ts';
import { closeAfterTest, IDLE_MS, openSender, sendOnce, sleep, until } from './fixtures/senders.ts';

const headers = { 'content-type': 'application/json' };
/** How soon servers close idle connections: 5 s is the default of Node, and 2 s that of gunicorn. */
const FASTEST_SERVER_MS = 2_000;
const HTTP_200 = 'HTTP/1.1 200 OK\r\n';

describe('a response body', () => {
  test('that arrives too slowly has its status and the bytes until the deadline', async () => {
    const receiver = await closeAfterTest(
      startReceiver((_request, response) => {
        response.writeHead(200);
        const interval = setInterval(() => response.write('x'), 40);
        response.on('close', () => clearInterval(interval));
      }),
    );
    const { status, text, durationMs } = await sendOnce(receiver.url, { timeoutMs: 1_000 });
    expect(status).toBe(200);
    expect(text).toMatch(/^x{2,26}$/);
    // Rounded, and a timer may end a millisecond early.
    expect(durationMs).toBeGreaterThan(900);
    await until(() => receiver.connections.every((socket) => socket.destroyed));
  });

  test('that does not end is aborted after 10 kB', async () => {
    const receiver = await closeAfterTest(
      startReceiver((_request, response) => {
        const pour = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
        };
        response.on('drain', pour);
        pour();
      }),
    );
    const { status, text, durationMs } = await sendOnce(receiver.url);
    expect(status).toBe(200);
    expect(text).toBe('x'.repeat(10_000));
    // Not the timeout ended it.
    expect(durationMs).toBeLessThan(5_000);
    const [socket] = receiver.connections;
    await until(() => socket?.destroyed === true);
    // No more than the buffers of both sockets hold.
    expect(socket?.bytesWritten).toBeLessThan(10_000_000);
  });

  test('whose connection breaks has its status and the bytes until then', async () => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => {
        socket.once('data', () => {
          socket.write(`${HTTP_200}content-length: 100\r\n\r\npartial \xe2\x82`, 'latin1');
          setTimeout(() => socket.resetAndDestroy(), 30);
        });
      }),
    );
    expect(await sendOnce(receiver.url)).toMatchObject({ status: 200, text: 'partial ' });
  });

  test('that ends with its connection is complete', async () => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => void socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nold'))),
    );
    expect(await sendOnce(receiver.url)).toMatchObject({ status: 200, text: 'old' });
  });
});

describe('interim responses are ignored', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\ncontent-length: 5\r\n\r\n';
  const OTHERS = 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 199 Odd\r\n\r\nHTTP/1.0 100\r\n\r\n';
  const FINAL = `${HTTP_200}content-length: 25\r\n\r\n${CONTINUE}`;

  test.each([
    ['100', CONTINUE],
    ['102 and other numbers', OTHERS],
    ['103 with headers', HINTS],
    ['many of all kinds', (CONTINUE + HINTS + OTHERS).repeat(30)],
  ])('%s: in one piece, in single bytes, and on a connection that is used again', async (_, interim) => {
    let answers = 0;
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => {
        socket.setNoDelay(true);
        // The first response begins before the request, as some servers' do.
        if (receiver.connections.length === 1) socket.write(interim);
        socket.on('data', async () => {
          answers += 1;
          if (answers !== 2) return void socket.write(interim + FINAL);
          for (const byte of interim + FINAL) {
            if (!socket.write(byte)) await once(socket, 'drain');
            await sleep(0);
          }
        });
      }),
    );
    const sender = openSender({ timeoutMs: 60_000 });
    for (let round = 0; round < 3; round++) {
      const outcome = await sender.send({ url: receiver.url, headers, body: '{}' });
      expect(outcome).toMatchObject({ status: 200, text: CONTINUE });
      await sleep(IDLE_MS);
    }
    expect(answers).toBe(3);
  });
});

describe('connections', () => {
  test('are reused: successive requests use one', async () => {
    const receiver = await closeAfterTest(startReceiver());
    const sender = openSender();
    for (let round = 0; round < 5; round++) {
      await sender.send({ url: receiver.url, headers, body: '{}' });
      await sleep(IDLE_MS);
    }
    expect(receiver.requests).toHaveLength(5);
    expect(receiver.connections).toHaveLength(1);
  });

  test('are not shared by requests in flight: one that hangs delays no other', async () => {
    const released = Promise.withResolvers<void>();
    const receiver = await closeAfterTest(
      startReceiver((_request, response, index) => {
        if (index > 0) response.end();
        else void released.promise.then(() => response.end());
      }),
    );
    const sender = openSender({ timeoutMs: 60_000 });
    const send = () => sender.send({ url: receiver.url, headers, body: '{}' });
    const hanging = send();
    await receiver.waitFor(1);
    const others = await Promise.all(Array.from({ length: 50 }, send));
    expect(others.map(({ status }) => status)).toEqual(Array(50).fill(200));
    released.resolve();
    expect(await hanging).toMatchObject({ status: 200 });
  });

  test('are closed when idle, sooner than any server closes them', async () => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => void socket.on('data', () => socket.write(`${HTTP_200}content-length: 0\r\n\r\n`))),
    );
    await sendOnce(receiver.url);
    const idleSince = performance.now();
    await until(() => receiver.connections[0]?.destroyed === true);
    const idleMs = performance.now() - idleSince;
    expect(idleMs).toBeGreaterThan(500);
    // A busy machine may close it late, but not as late as undici does by default.
    expect(idleMs).toBeLessThan(4_000);
    expect(KEEP_ALIVE_MS).toBeLessThan(FASTEST_SERVER_MS);
  });

  test('that the receiver has closed after a response are not reused', async () => {
    const receiver = await closeAfterTest(
      startReceiver((_request, response) => {
        response.end(() => response.socket?.end());
      }),
    );
    const sender = openSender();
    for (let round = 0; round < 3; round++) {
      expect(await sender.send({ url: receiver.url, headers, body: '{}' })).toMatchObject({ status: 200 });
      await sleep(20);
    }
    expect(receiver.connections).toHaveLength(3);
  });

  test('that break end their request, which is not silently sent again', async () => {
    const receiver = await closeAfterTest(
      startReceiver((_request, response, index) => {
        if (index === 0) response.end();
        else response.socket?.destroy();
      }),
    );
    const sender = openSender();
    await sender.send({ url: receiver.url, headers, body: '{}' });
    await sleep(IDLE_MS);
    expect(await sender.send({ url: receiver.url, headers, body: '{}' })).toMatchObject({
      status: 0,
      text: 'The connection was closed before a response arrived',
    });
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.connections).toHaveLength(1);
  });

  test('are closed with the sender, after the requests in flight', async () => {
    const receiver = await closeAfterTest(
      startReceiver((_request, response) => void setTimeout(() => response.end(), 80)),
    );
    const sender = openSender();
    const inFlight = sender.send({ url: receiver.url, headers, body: '{}' });
    await receiver.waitFor(1);
    await sender.close();
    expect(await inFlight).toMatchObject({ status: 200 });
    await until(() => receiver.connections.every((socket) => socket.destroyed));
    await expect(sender.send({ url: receiver.url, headers, body: '{}' })).rejects.toThrow();
  });
});
