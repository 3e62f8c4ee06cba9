import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { AddressRefused, type ResolveHost } from '../../src/egress/address-guard.ts';
import { failureReason } from '../../src/egress/failure-reason.ts';
import { closedUrl, startRawReceiver, startReceiver } from '../support/receiver.ts';
import { CLOSED, closeAfterTest, expectNoResponse, sendOnce, sleep, TIMEOUT_MS, until } from './fixtures/senders.ts';

const NO_RESPONSE = 'No response within 0.25 s';
/** Far more than the timeout, for a busy machine, and far less than the operating system would wait. */
const MAX_MS = 10_000;

describe('there is no response', () => {
  test('from a receiver that hangs before the headers', async () => {
    const receiver = await closeAfterTest(startReceiver(() => {}));
    const outcome = await sendOnce(receiver.url, { timeoutMs: TIMEOUT_MS });
    expectNoResponse(outcome, NO_RESPONSE);
    expect(outcome.durationMs).toBeLessThan(MAX_MS);
    await until(() => receiver.connections.every((socket) => socket.destroyed));
  });

  test('from a receiver that hangs in the TLS handshake', async () => {
    const receiver = await closeAfterTest(startRawReceiver(() => {}));
    const outcome = await sendOnce(receiver.url.replace('http:', 'https:'), { timeoutMs: TIMEOUT_MS });
    expectNoResponse(outcome, NO_RESPONSE);
    expect(outcome.durationMs).toBeLessThan(MAX_MS);
  });

  test('from a receiver that sends its headers too slowly', async () => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
        const interval = setInterval(() => socket.write('x'), 20);
        socket.on('close', () => clearInterval(interval));
      }),
    );
    expectNoResponse(await sendOnce(receiver.url, { timeoutMs: TIMEOUT_MS }), NO_RESPONSE);
  });

  test('from a receiver that sends interim responses without end', async () => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => {
        const interval = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
        socket.on('close', () => clearInterval(interval));
      }),
    );
    expectNoResponse(await sendOnce(receiver.url, { timeoutMs: TIMEOUT_MS }), NO_RESPONSE);
  });

  test.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', 'HTTP/1.1 100 x'])(
    'from a receiver that sends more than 16 kB of %j',
    async (interim) => {
      const receiver = await closeAfterTest(
        startRawReceiver((socket) => {
          const pour = (): void => {
            while (!socket.destroyed && socket.write(interim.repeat(500)));
          };
          socket.on('drain', pour);
          pour();
        }),
      );
      expectNoResponse(await sendOnce(receiver.url, { timeoutMs: 60_000 }), 'The response headers are too large');
      await until(() => receiver.connections.every((socket) => socket.destroyed));
      expect(receiver.connections).toHaveLength(1);
    },
  );

  test('if the name is resolved too late, and nothing is sent then', async () => {
    const receiver = await closeAfterTest(startReceiver());
    const resolveHost: ResolveHost = async () => {
      await sleep(TIMEOUT_MS - 30);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const outcome = await sendOnce(`http://slow.test:${receiver.port}/`, { timeoutMs: TIMEOUT_MS - 100, resolveHost });
    expectNoResponse(outcome, 'No response within 0.15 s');
    await sleep(200);
    expect(receiver.requests).toEqual([]);
  });

  test.each(['000', '099'])('with the invalid status %s', async (status) => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => void socket.once('data', () => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`))),
    );
    expectNoResponse(await sendOnce(receiver.url), 'The response was not valid HTTP');
  });

  test('from a port where nothing listens', async () => {
    expectNoResponse(await sendOnce(await closedUrl()), 'The connection was refused');
  });

  test.each<[string, (socket: Socket) => void]>([
    ['closes at once', (socket) => socket.end()],
    ['resets at once', (socket) => socket.resetAndDestroy()],
    ['closes on the request', (socket) => socket.once('data', () => socket.end())],
    ['resets on the request', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['closes in the headers', (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nx-half: '))],
    [
      'switches protocols',
      (socket) => socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ])('from a receiver that %s', async (_name, onConnection) => {
    const receiver = await closeAfterTest(startRawReceiver(onConnection));
    expectNoResponse(await sendOnce(receiver.url, { timeoutMs: 1_000 }), CLOSED);
    expect(receiver.connections).toHaveLength(1);
  });

  test.each(['SSH-2.0-OpenSSH_9.9\r\n', '220 mail ESMTP\r\n', '-ERR unknown command\r\n', '\0\u0001\u0002'])(
    'that is HTTP, but this: %j',
    async (greeting) => {
      const receiver = await closeAfterTest(startRawReceiver((socket) => void socket.end(greeting)));
      expectNoResponse(await sendOnce(receiver.url), 'The response was not valid HTTP');
    },
  );

  test('with headers that do not end', async () => {
    const receiver = await closeAfterTest(
      startRawReceiver((socket) => {
        const pour = (): void => {
          while (!socket.destroyed && socket.write(`x-${'y'.repeat(1_000)}: ${'z'.repeat(60_000)}\r\n`));
        };
        socket.write('HTTP/1.1 200 OK\r\n');
        socket.on('drain', pour);
        pour();
      }),
    );
    expectNoResponse(await sendOnce(receiver.url), 'The response headers are too large');
    await until(() => receiver.connections.every((socket) => socket.destroyed));
    expect(receiver.connections[0]?.bytesWritten).toBeLessThan(10_000_000);
  });

  test('for a host name without an address', async () => {
    expectNoResponse(await sendOnce('http://nowhere.invalid/'), 'The host name does not resolve');
  });
});

describe('the reason', () => {
  const withCode = (code: string): Error => Object.assign(new Error('connect 10.0.0.1:5432'), { code });

  test.each([
    ['ECONNREFUSED', 'The connection was refused'],
    ['EHOSTUNREACH', 'The host is unreachable'],
    ['CERT_HAS_EXPIRED', 'TLS: the certificate has expired'],
    ['CERT_SIGNATURE_FAILURE', 'The connection failed'],
    ['UND_ERR_UNHEARD_OF', 'The connection failed'],
    ['ERR_STREAM_DESTROYED', CLOSED],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS: the handshake failed'],
  ])('%s: %s', (code, reason) => {
    expect(failureReason(withCode(code))).toBe(reason);
  });

  test('is that of the first of several addresses', () => {
    const failures = ['ECONNREFUSED', 'ENETUNREACH'].map(withCode);
    expect(failureReason(Object.assign(new AggregateError(failures), { code: 'ECONNREFUSED' }))).toBe(
      'The connection was refused',
    );
  });

  test('of a refused address is the message of the refusal', () => {
    expect(failureReason(new AddressRefused('Address not allowed: x'))).toBe('Address not allowed: x');
  });

  test.each(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'EMFILE', ''])(
    'does not exist for an error of our own: "%s"',
    (code) => {
      expect(failureReason(withCode(code))).toBeNull();
    },
  );
});
