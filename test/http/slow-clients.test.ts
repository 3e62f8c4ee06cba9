/** Clients that send too slowly are disconnected, and of those that read slowly, there may be only some. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { limitBodyTime } from '../../src/http/body-timeouts.ts';
import { refuseMalformedRequest, trackResponses } from '../../src/http/client-errors.ts';
import { limitConnections } from '../../src/http/connection-limits.ts';
import { handleErrors } from '../../src/http/errors.ts';
import { serveFiles } from '../../src/http/files.ts';
import type { SlowReaderLimits } from '../../src/http/slow-readers.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import { byteSource } from '../storage/sources.ts';
import { makeTempDir } from '../support/temp-dir.ts';

let app: FastifyInstance;
let socket: Socket;
const others: Socket[] = [];
afterEach(async () => {
  for (const one of [socket, ...others.splice(0)]) one.destroy();
  app.server.closeAllConnections();
  await app.close();
});

async function send(head: string): Promise<Socket> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('No port');
  socket = connect(address.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(head);
  return socket;
}

/** Sends `head` on another connection to the same server. */
function connectAgain(head: string, localAddress = '127.0.0.1'): Socket {
  const other = connect({ host: '127.0.0.1', port: Number(socket.remotePort), localAddress });
  other.on('error', () => {});
  other.write(head);
  others.push(other);
  return other;
}

/** Returns the status of the first response. */
async function readStatus(from: Socket): Promise<string | undefined> {
  const [chunk] = await once(from, 'data');
  return /^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1];
}

/** Returns everything that the server sends until it closes the connection. */
async function readAll(from: Socket): Promise<string> {
  let text = '';
  from.on('data', (chunk) => {
    text += chunk.toString();
  });
  await once(from, 'close');
  return text;
}

function startApp(timeouts: { bodyMs: number; lingerMs: number }): void {
  app = Fastify();
  handleErrors(app);
  limitBodyTime(app, timeouts);
}

const begin = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{';

test('a body that arrives too slowly gets 408, and the connection is closed', async () => {
  startApp({ bodyMs: 100, lingerMs: 60_000 });
  app.post('/', async () => 'never');
  const text = await readAll(await send(begin));
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(text).toContain('The request body arrived too slowly');
});

test('a client that keeps a rejected body open is disconnected', async () => {
  startApp({ bodyMs: 60_000, lingerMs: 100 });
  app.post(
    '/',
    { onRequest: async (_request, reply) => reply.status(401).send({ error: 'Unauthorized' }) },
    () => null,
  );
  expect(await readAll(await send(begin))).toMatch(/^HTTP\/1\.1 401 /);
});

/** Serves a file of 64 MiB. Returns its signed path, and a promise for the end of the first connection that ends. */
async function startDownloads(slowReaders: Partial<SlowReaderLimits>) {
  const root = await makeTempDir();
  const store = await createDiskStore({ root, signingSecret: 'a secret for this test', clock: systemClock });
  await store.put('v1/a', byteSource(64 * 1024 * 1024), { contentType: 'application/pdf' });
  const origin = 'http://files';
  const url = await store.signDownload('v1/a', {
    filename: 'a.pdf',
    contentType: 'application/pdf',
    expiresInSeconds: 60,
    origin,
  });
  app = Fastify();
  await app.register(serveFiles, { files: store, isDiscarded: async () => false, slowReaders });
  const closed = new Promise<void>((resolve) => {
    app.addHook('onRequest', async ({ raw }) => void raw.socket.once('close', () => resolve()));
  });
  return { path: url.slice(origin.length), closed };
}

/** Reads until the connection closes. Returns the number of bytes. */
async function countBytes(from: Socket): Promise<number> {
  let received = 0;
  from.on('data', (chunk) => {
    received += chunk.length;
  });
  from.resume();
  await once(from, 'close');
  return received;
}

const FILE_BYTES = 64 * 1024 * 1024;

test('a client that pauses a download longer than the limit, as a player does, receives the whole file', async () => {
  const { path } = await startDownloads({ stallMs: 60, periodMs: 60, perNetwork: 1 });
  const reader = await send(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  reader.pause();
  await delay(600);
  expect(await countBytes(reader)).toBeGreaterThan(FILE_BYTES);
});

test('if more downloads of a network pause than it may have, one is disconnected', async () => {
  const { path, closed } = await startDownloads({ stallMs: 60, periodMs: 60, perNetwork: 1 });
  const head = `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`;
  const readers = [await send(head), connectAgain(head)];
  for (const reader of readers) reader.pause();
  await closed;
  const received = await Promise.all(readers.map(countBytes));
  expect(received.map((bytes) => bytes > FILE_BYTES).sort()).toEqual([false, true]);
});

test('a second request whose headers arrive too slowly gets 408', async () => {
  app = Fastify({
    http: { headersTimeout: 1_000, connectionsCheckingInterval: 50 },
    clientErrorHandler: (error, from) => refuseMalformedRequest(error, from, app.log),
  });
  trackResponses(app.server);
  app.get('/', async () => 'served');
  const text = await readAll(await send('GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nho'));
  expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*servedHTTP\/1\.1 408 [\s\S]*The request arrived too slowly/);
});

describe('connections beyond the limit of their network', () => {
  const limits = { maxPerNetwork: 2, proxies: ['10.0.0.0/8'], exemptLoopback: false };
  const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

  /** Opens three connections, and returns the status that each receives. */
  async function openThree(change: Partial<typeof limits>): Promise<(string | undefined)[]> {
    app = Fastify();
    limitConnections(app.server, { ...limits, ...change });
    app.get('/', async () => 'served');
    const statuses = [await readStatus(await send(request))];
    for (let count = 1; count < 3; count += 1) statuses.push(await readStatus(connectAgain(request)));
    return statuses;
  }

  test('get 429, and those of another network do not', async () => {
    expect(await openThree({})).toEqual(['200', '200', '429']);
    expect(await readStatus(connectAgain(request, '127.0.0.2'))).toBe('200');
  });

  test.each([
    ['proxies', { proxies: ['10.0.0.0/8', '127.0.0.0/8'] }],
    ['callers on this machine, if they are exempt', { exemptLoopback: true }],
    ['anybody, if the limit is 0', { maxPerNetwork: 0 }],
  ])('are not refused for %s', async (_, change) => {
    expect(await openThree(change)).toEqual(['200', '200', '200']);
  });
});
