/** Compressed responses, and the ones that are not. */
import { createHook } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compressResponses, preferredEncoding } from '../../src/http/compression.ts';
import { handleErrors } from '../../src/http/errors.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

type Raw = { status: number; headers: IncomingMessage['headers']; body: Buffer };

let app: TestApp;
let team: Team;
let lists: [string, string][];
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  for (let index = 0; index < 30; index += 1) {
    const name = `Guest number ${index}`;
    await app.http.post(`${team.path}/contacts`, team.owner.token, { name, email: `guest${index}@example.com` });
  }
  const input = encodeURIComponent(JSON.stringify({ id: team.id }));
  lists = [
    ['REST', `${team.path}/contacts`],
    ['tRPC', `/trpc/contacts.list?input=${input}`],
    ['CSV', `${team.path}/contacts.csv`],
    ['the document', '/openapi.json'],
    ['the document as 3.0', '/openapi-3.0.json'],
  ];
});
afterAll(() => app.close());

/** `fetch` decompresses on its own and adds `Accept-Encoding`. */
async function read(path: string, headers: Record<string, string>, method = 'GET', url = app.url): Promise<Raw> {
  const request = get(url + path, { method, headers: { authorization: `Bearer ${team.owner.token}`, ...headers } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

describe.each(['REST', 'tRPC', 'CSV', 'the document'])('%s', (kind) => {
  const path = (): string => lists.find(([name]) => name === kind)?.[1] ?? '';

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is compressed with %s', async (encoding, decompress) => {
    const plain = await read(path(), {});
    const { status, headers, body } = await read(path(), { 'accept-encoding': encoding });
    expect([status, headers['content-encoding'], headers.vary]).toEqual([200, encoding, 'Accept-Encoding']);
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect(decompress(body).toString()).toBe(plain.body.toString());
    expect(body.length).toBeLessThan(plain.body.length / 2);
    if (headers['content-length'] !== undefined) expect(Number(headers['content-length'])).toBe(body.length);
  });

  test('is not compressed for callers that do not ask for it, and says that it depends on that', async () => {
    for (const headers of [{}, { 'accept-encoding': 'identity' }, { 'accept-encoding': 'br;q=0, gzip;q=0' }]) {
      const response = await read(path(), headers);
      expect([response.headers['content-encoding'], response.headers.vary]).toEqual([undefined, 'Accept-Encoding']);
    }
  });
});

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip;q=x', null],
  ['identity', null],
  ['deflate', null],
  ['', null],
])('Accept-Encoding: %s chooses %s', (header, encoding) => {
  expect(preferredEncoding(header)).toBe(encoding);
});

test('HEAD has the headers of GET and no body', async () => {
  const path = `${team.path}/contacts`;
  const asked = { 'accept-encoding': 'br' };
  const [head, full] = [await read(path, asked, 'HEAD'), await read(path, asked)];
  expect([head.status, head.body.length]).toEqual([200, 0]);
  for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'])
    expect([name, head.headers[name]]).toEqual([name, full.headers[name]]);
});

test('small responses, responses to writes and errors are sent as they are', async () => {
  const asked = { 'accept-encoding': 'br, gzip' };
  expect((await read('/health', asked)).headers['content-encoding']).toBeUndefined();
  expect((await read(`${team.path}/unknown`, asked)).headers['content-encoding']).toBeUndefined();
  const created = await app.http.call('POST', `/trpc/apiKeys.create,auth.updateMe?batch=1`, {
    token: team.owner.token,
    json: { 0: { id: team.id, name: 'K'.repeat(100) }, 1: { name: 'x'.repeat(1_000) } },
    headers: asked,
  });
  expect([created.status, created.headers.get('content-encoding')]).toEqual([207, null]);
});

test('files are sent as they are, whole and in part', async () => {
  const { item } = (await upload(app, team.path, team.owner.token)).body;
  const { url } = (await app.http.get(`${team.path}/library/${item.id}/download`, team.owner.token)).body;
  const path = url.slice(new URL(url).origin.length);
  const whole = await read(path, { 'accept-encoding': 'br' });
  const part = await read(path, { 'accept-encoding': 'br', range: 'bytes=0-9' });
  expect([whole.status, whole.body.length, whole.headers['content-encoding']]).toEqual([200, item.size, undefined]);
  expect([part.status, part.body.length, part.headers['content-encoding']]).toEqual([206, 10, undefined]);
});

test.each([
  '/docs/guides/rooms',
  '/docs/guides/rooms.md',
  '/llms.txt',
  '/docs/assets/guide.css',
  '/docs/assets/scalar.js',
])('%s is compressed', async (path) => {
  const plain = await read(path, {});
  const { status, headers, body } = await read(path, { 'accept-encoding': 'gzip, br' });
  expect([status, headers['content-encoding']]).toEqual([200, 'br']);
  expect(body.length).toBeLessThan(plain.body.length);
});

test('a caller who hangs up ends the source of a compressed stream', async () => {
  const server = Fastify();
  compressResponses(server);
  const source = new Readable({ read: () => source.push(randomBytes(10_000).toString('base64')) });
  server.get('/', (_request, reply) => reply.type('text/csv').send(source));
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const [response] = (await once(get(url, { headers: { 'accept-encoding': 'gzip' } }), 'response')) as [
    IncomingMessage,
  ];
  await once(response, 'data');
  // `once` of node:events would reject with the error that ends the source.
  const closed = new Promise((resolve) => source.once('close', resolve));
  response.destroy();
  await closed;
  await server.close();
});

test.each(['identity', 'br', 'gzip'])(
  'an export that fails before its first byte is a plain 503 (%s)',
  async (encoding) => {
    const impatient = await startTestApp({ sharedDatabase: app, database: { statementTimeoutMs: 500 } });
    const blocker = new pg.Client({ connectionString: app.databaseUrl });
    await blocker.connect();
    try {
      await blocker.query('begin; lock table contacts in access exclusive mode');
      const response = await read(`${team.path}/contacts.csv`, { 'accept-encoding': encoding }, 'GET', impatient.url);
      const { status, headers, body } = response;
      expect([status, headers['content-type']]).toEqual([503, 'application/json; charset=utf-8']);
      expect([headers['content-encoding'], headers['content-disposition']]).toEqual([undefined, undefined]);
      expect(JSON.parse(body.toString())).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        request_id: headers['x-request-id'],
      });
      expect(headers['retry-after']).toBe('2');
    } finally {
      await blocker.end();
      await impatient.close();
    }
  },
);

describe.each([
  ['br', createBrotliDecompress],
  ['gzip', createGunzip],
] as const)('a stream with %s', (encoding, createDecompressor) => {
  test('sends its first chunk before the next is ready, and is cut off when it fails', async () => {
    const source = new Readable({ read() {} });
    const server = Fastify();
    handleErrors(server);
    compressResponses(server);
    server.get('/', (_request, reply) => reply.type('text/csv').send(source));
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    source.push('id,name\r\n');
    const [response] = (await once(get(url, { headers: { 'accept-encoding': encoding } }), 'response')) as [
      IncomingMessage,
    ];
    const [first] = await once(response.pipe(createDecompressor()), 'data');
    expect(String(first)).toBe('id,name\r\n');
    const failed = once(response, 'end').catch((error: Error) => error);
    source.destroy(new Error('The database is gone'));
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    await server.close();
  });
});

test('the OpenAPI document is compressed once for each encoding', async () => {
  for (const encoding of ['br', 'gzip']) await read('/openapi.json', { 'accept-encoding': encoding });
  let compressors = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'ZLIB') compressors += 1;
    },
  }).enable();
  try {
    for (const [encoding, decompress] of [['br', brotliDecompressSync] as const, ['gzip', gunzipSync] as const])
      for (const method of ['GET', 'GET', 'HEAD']) {
        const { headers, body } = await read('/openapi.json', { 'accept-encoding': encoding }, method);
        expect([headers['content-encoding'], compressors]).toEqual([encoding, 0]);
        expect(headers['content-type']).toBe('application/json; charset=utf-8');
        if (method === 'HEAD') continue;
        expect(JSON.parse(decompress(body).toString()).openapi).toBe('3.1.0');
        compressors = 0;
      }
    await read(`${team.path}/contacts`, { 'accept-encoding': 'br' });
    expect(compressors).toBe(1);
    const first = () => read('/docs/guides/search.json', { 'accept-encoding': 'br' });
    const answers = await Promise.all([first(), first(), first()]);
    expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'br', 'br']);
    expect(compressors).toBe(2);
  } finally {
    hook.disable();
  }
});
