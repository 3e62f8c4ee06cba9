/** A request that is rejected before its body has been read gets its response, and the rest of the body is not read. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { admitBodies, defaultBodyBounds } from '../../src/http/body-admission.ts';
import { limitBodyTime } from '../../src/http/body-timeouts.ts';
import { handleErrors } from '../../src/http/errors.ts';
import { closeUnreadBodies, type UnreadBodyLimits } from '../../src/http/unread-bodies.ts';

const MIB = 1024 * 1024;
/** What Node buffers of a body, and the chunk that it is reading at this moment. */
const MAX_READ = 256 * 1024;
const NEVER_MS = 10 * 60_000;

let app: FastifyInstance;
let url: string;
let port: number;
const sockets = new Set<Socket>();
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  app.server.closeAllConnections();
  await app.close();
});

async function start(change: Partial<UnreadBodyLimits> = {}): Promise<void> {
  app = Fastify({ bodyLimit: 8 * 1024 });
  app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  handleErrors(app);
  admitBodies(app, defaultBodyBounds);
  limitBodyTime(app);
  closeUnreadBodies(app, { lingerMs: 100, maxLingering: 256, ...change });
  app.post('/limited', async () => 'read');
  app.post('/401', { onRequest: async (_request, reply) => reply.status(401).send({ message: 'No' }) }, () => null);
  app.post('/429', { onRequest: async (_request, reply) => reply.status(429).send({ message: 'No' }) }, () => null);
  app.get('/ignored', async () => ({ ok: true }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.address() as AddressInfo);
  url = `http://127.0.0.1:${port}`;
}

function open(text: string): Socket {
  const client = connect(port, '127.0.0.1');
  clients.push(client);
  client.on('error', () => {});
  client.write(text);
  return client;
}

/** Returns what arrives until it matches. */
async function readUntil(client: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  const read = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  client.on('data', read);
  await expect.poll(() => text).toMatch(pattern);
  client.off('data', read);
  return text;
}

const rejections: [string, string, string, number][] = [
  ['is too large', 'POST', '/limited', 413],
  ['has no credential', 'POST', '/401', 401],
  ['is over its rate limit', 'POST', '/429', 429],
];

describe.each(rejections)('a request that %s', (_, method, path, status) => {
  test.each([
    ['with a length', `content-length: ${64 * MIB}\r\n\r\n`],
    ['in chunks', `transfer-encoding: chunked\r\n\r\n${(64 * MIB).toString(16)}\r\n`],
    ['that expects to continue', `expect: 100-continue\r\ncontent-length: ${64 * MIB}\r\n\r\n`],
  ])('%s gets its response while it is sending, of which nothing more is read', async (_name, headers) => {
    await start({ lingerMs: NEVER_MS });
    const client = open(`${method} ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${headers}`);
    client.write(Buffer.alloc(16 * MIB, 'x'));
    const text = await readUntil(client, /\r\n\r\n.+/);
    expect(text).toMatch(new RegExp(`HTTP/1\\.1 ${status} [\\s\\S]*connection: close`, 'i'));
    const [socket] = sockets;
    const before = socket?.bytesRead;
    // Another request is served in between, so a server that reads on would have done so.
    await (await fetch(`${url}/ignored`)).text();
    expect(socket?.bytesRead).toBe(before);
    expect(before).toBeLessThan(MAX_READ);
  });

  test('leaves no connection behind', async () => {
    await start();
    const client = open(`${method} ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${64 * MIB}\r\n\r\n`);
    client.write(Buffer.alloc(MIB, 'x'));
    client.resume();
    await once(client, 'close');
    await expect.poll(() => sockets.size).toBe(0);
  });

  test('with a small body does not lose its connection', async () => {
    await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < 3; count += 1) {
      const headers = { 'content-type': 'application/json', 'content-length': 64 * 1024 };
      const sent = request(url + path, { agent, method, headers }).end(Buffer.alloc(64 * 1024, ' '));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(status);
      await once(response.resume(), 'end');
      expect(sent.reusedSocket).toBe(count > 0);
    }
    agent.destroy();
  });
});

test('a chunked body that becomes too large is not read further', async () => {
  await start({ lingerMs: NEVER_MS });
  const head =
    'POST /limited HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
  const client = open(`${head}1000000\r\n${'x'.repeat(1_000)}`);
  await expect.poll(() => sockets.size).toBe(1);
  client.write(Buffer.alloc(16 * MIB, 'x'));
  expect(await readUntil(client, /\r\n\r\n.+/)).toMatch(/^HTTP\/1\.1 413 /);
  const [socket] = sockets;
  expect(socket?.bytesRead).toBeLessThan(MAX_READ);
});

test('a response comes after those to earlier requests on its connection', async () => {
  await start();
  const get = 'GET /ignored HTTP/1.1\r\nhost: a\r\n\r\n';
  const client = open(`${get}${get}POST /401 HTTP/1.1\r\nhost: a\r\ncontent-length: ${MIB}\r\n\r\n`);
  const text = await readUntil(client, /401[\s\S]*"No"/);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 401']);
});

test('a network that has too many such connections has the next one closed at once', async () => {
  await start({ lingerMs: NEVER_MS, maxLingering: 4 });
  const head = `POST /401 HTTP/1.1\r\nhost: a\r\ncontent-length: ${MIB}\r\n\r\n`;
  for (let count = 0; count < 2; count += 1) await readUntil(open(head), /"No"/);
  const third = open(head);
  await once(third.resume(), 'close');
  expect(sockets.size).toBe(2);
});

describe('an upload of 4 MiB that is rejected gives its response to', () => {
  const body = Buffer.alloc(4 * MIB, 'x');
  const headers = { 'content-type': 'application/json' };

  test.each([
    ['fetch', async () => (await fetch(`${url}/limited`, { method: 'POST', headers, body })).status],
    [
      'fetch, in chunks',
      async () => {
        const options = { method: 'POST', headers, body: new Blob([body]).stream(), duplex: 'half' as const };
        return (await fetch(`${url}/limited`, options)).status;
      },
    ],
    [
      'http.request',
      async () => {
        const sent = request(`${url}/limited`, { method: 'POST', headers }).end(body);
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        // The rest of the body can no longer be sent.
        sent.on('error', () => {});
        response.resume();
        return response.statusCode;
      },
    ],
    [
      'curl',
      async () => {
        const file = promisify(execFile)('curl', [
          ...['--silent', '--output', '/dev/null', '--write-out', '%{http_code}'],
          ...['--header', 'content-type: application/json', '--data-binary', '@-', `${url}/limited`],
        ]);
        file.child.stdin?.on('error', () => {});
        file.child.stdin?.end(body);
        return Number((await file).stdout);
      },
    ],
  ])('%s', async (_, send) => {
    await start();
    for (let count = 0; count < 5; count += 1) expect(await send()).toBe(413);
    await expect.poll(() => sockets.size).toBe(0);
  });
});
