/** Errors from below the operations: from Node's parser, Fastify's plugins and tRPC's adapter. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let storeChecks = 0;
beforeAll(async () => {
  app = await startTestApp({
    wrapStore: (store) => ({
      ...store,
      async checkReady() {
        storeChecks += 1;
        await store.checkReady();
      },
    }),
  });
  team = await addTeam(app);
});
afterAll(() => app.close());

const chunkedHead =
  'POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
/** A request whose response waits for the database. */
const NEXT = `GET /api/auth/me HTTP/1.1\r\nhost: x\r\nauthorization: Bearer lns_${'A'.repeat(43)}\r\n\r\n`;

type Response = { status: number; head: string; body: Record<string, unknown> };

/** Sends raw bytes on one connection, each part after a response to the one before. Returns all responses. */
async function sendRaw(...parts: string[]): Promise<Response[]> {
  const text = await exchange(app.url, parts);
  return [...text.matchAll(/(HTTP\/1\.1 (\d{3})[^{]*)\r\n\r\n(\{[^\r]*\})/g)].map(
    ([, head = '', status, body = '']) => ({
      status: Number(status),
      head,
      body: JSON.parse(body),
    }),
  );
}

const malformed: [string, string, number, string][] = [
  ['headers over the limit', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ['a URL over the limit', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ['a request that is not HTTP', 'HELLO\r\n\r\n', 400, 'BAD_REQUEST'],
  ['a header with a control character', 'GET / HTTP/1.1\r\nhost: x\r\na\u0001b: c\r\n\r\n', 400, 'BAD_REQUEST'],
  ['two hosts', 'GET /health HTTP/1.1\r\nhost: x\r\nhost: y\r\nconnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
  [
    'a transfer encoding that is not supported',
    'POST /api/auth/login HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n' +
      'transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    400,
    'BAD_REQUEST',
  ],
  [
    'two content lengths',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
    400,
    'BAD_REQUEST',
  ],
  ['a malformed chunk', `${chunkedHead}zz\r\n`, 400, 'BAD_REQUEST'],
  ['a chunk extension over the limit', `${chunkedHead}1;${'x'.repeat(20_000)}\r\n`, 413, 'PAYLOAD_TOO_LARGE'],
];

describe.each(malformed)('%s', (_, bytes, status, code) => {
  test('gets the usual error body', async () => {
    const [response] = await sendRaw(bytes);
    expect(response?.status).toBe(status);
    expect(response?.body).toEqual({
      error: expect.any(String),
      message: response?.body.error,
      code,
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(response?.head).toContain(`x-request-id: ${response?.body.request_id}`);
  });

  test.each([
    ['after a response on the same connection', true],
    ['sent before the response to an earlier request', false],
  ])('gets it too %s', async (_name, waits) => {
    const responses = await (waits ? sendRaw(NEXT, bytes) : sendRaw(NEXT + bytes));
    expect(responses.map((response) => [response.status, response.body.code])).toEqual([
      [401, 'UNAUTHORIZED'],
      [status, code],
    ]);
  });
});

test('every operation documents 431, and those with path parameters document 414', async () => {
  const { paths, components } = (await app.http.get('/openapi.json')).body;
  for (const [path, operations] of Object.entries<Record<string, { responses: object }>>(paths))
    for (const { responses } of Object.values(operations))
      expect([path, '431' in responses, '414' in responses]).toEqual([path, true, path.includes('{')]);
  expect(components.responses).toMatchObject({ HeadersTooLarge: {}, UriTooLong: {} });
});

test('a path parameter that is too long returns 414', async () => {
  const { status, body } = await app.http.get(`/api/book/${'a'.repeat(10_000)}`);
  expect([status, body.code]).toEqual([414, 'URI_TOO_LONG']);
});

test.each(['/docs/static/..', '/docs/static/%00/%2e%2e', '/docs/static/../../package.json'])(
  'a path that leads out of the docs returns 404: %s',
  async (path) => {
    const [response] = await sendRaw(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect([response?.status, response?.body.code]).toEqual([404, 'NOT_FOUND']);
  },
);

test('a batch of a query and a mutation is rejected with a request ID', async () => {
  const { status, body } = await app.http.get('/trpc/auth.me,auth.logout?batch=1', team.member.token);
  const { error } = body;
  expect([status, error.data.request_id]).toEqual([400, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(error.message).toMatch(/mix procedure types/);
});

describe('a trailing slash in the path is ignored', () => {
  test.each([
    ['/api/workspaces/', 200],
    ['/api/dashboard/rooms/', 200],
    ['/api/no-such-path/', 404],
  ])('%s', async (path, status) => {
    expect((await app.http.get(path, team.member.token)).status).toBe(status);
  });

  test('in the paths of a workspace', async () => {
    for (const path of ['/labels/', '/library/', '/analytics/'])
      expect((await app.http.get(`${team.path}${path}`, team.member.token)).status, path).toBe(200);
  });
});

test('empty query values are the same as no values', async () => {
  const query = 'search=&label=&sort=&order=&limit=&offset=';
  const { status, body } = await app.http.get(`${team.path}/library?${query}`, team.member.token);
  expect([status, body]).toEqual([200, { items: [], total: 0 }]);
});

test('parts without a name count towards the limit of parts', async () => {
  const part = '--x\r\ncontent-type: text/plain\r\n\r\n\r\n';
  const { status, body } = await app.http.call('POST', `${team.path}/library`, {
    token: team.member.token,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: `${part.repeat(100)}--x--\r\n`,
  });
  expect([status, body.message]).toEqual([400, 'The body has too many parts']);
});

test('/ready checks the store at most once a second, however often it is called', async () => {
  storeChecks = 0;
  const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await app.http.get('/ready')).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(storeChecks).toBeGreaterThan(0);
  expect(storeChecks).toBeLessThanOrEqual(10);
});
