/** Requests that no normal client sends never cause a 500, end the process or reveal internals. */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { concurrently } from '../support/concurrently.ts';
import { exchange, exchangeRequest, type RawRequest } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

let linesBefore = 0;
beforeEach(() => {
  linesBefore = app.logLines.length;
});
afterEach(async () => {
  expect((await app.http.get('/health')).status, 'the process is running').toBe(200);
  const faults = app.logLines.slice(linesBefore).filter(({ level }) => Number(level) >= 50);
  expect(faults, 'the log has no error').toEqual([]);
});

function send(request: RawRequest) {
  return exchangeRequest(app.url, request);
}

function expectHandled(answer: { status: number; head: string; body: string }): void {
  expect(answer.status, answer.head).toBeGreaterThanOrEqual(200);
  expect(answer.status, answer.body).toBeLessThan(500);
  expect(answer.body).not.toMatch(/\bat .*\.[jt]s:|node_modules|prisma|select /i);
}

const TARGETS = [
  '//',
  '///',
  '*',
  'http://[',
  'http://[::1',
  'http://x/%',
  'http://%zz/',
  'http:',
  'http://',
  '/%zz',
  '/%',
  '/%c0%ae',
  '/%ff',
  '/%00',
  '/api/workspaces/%zz',
  '/api/workspaces/%00',
  '/api/workspaces/%2e%2e',
  '/api/workspaces/1/../../../etc/passwd',
  '/api/workspaces/1/labels/%f0%28%8c%28',
  '/api//workspaces',
  '//api/workspaces',
  '/api/workspaces//labels',
  '/api/workspaces/1/labels/',
  '/api/workspaces/join/%00',
  '/api/workspaces/1;x=1',
  '/api/workspaces?%zz',
  '/api/workspaces?__proto__[x]=1',
  '/api/workspaces#x',
  `/api/workspaces/${'9'.repeat(4_000)}`,
  `/api/workspaces/${'9'.repeat(6_000)}`,
  `/${'a/'.repeat(3_000)}`,
  `/api/workspaces?${'a=1&'.repeat(2_500)}`,
  '/trpc',
  '/trpc/',
  '/trpc//',
  '/trpc/%zz',
  '/trpc/%00',
  '/trpc/toString',
  '/trpc/__proto__',
  '/trpc/constructor.constructor',
  '/trpc/labels',
  '/trpc/labels.',
  '/trpc/.list',
  '/trpc/labels.list.call',
  '/trpc/auth.me?input=%7B',
  '/trpc/auth.me?input=%zz',
  '/trpc/auth.me?input=null&input=1',
  '/trpc/auth.me?batch=1&input=5',
  '/trpc/auth.me,auth.me?batch=1&input=[]',
  '/trpc/auth.me,?batch=1',
  '/trpc/,,,?batch=1',
  '/trpc/auth.me?batch=x',
  '/files/',
  '/files/%zz',
  '/files/../../etc/passwd?expires=1&filename=x&type=x&signature=x',
  '/docs/%zz',
  '/docs/../package.json',
  '/docs/static/..%2f..%2fpackage.json',
];

describe.each([['without a credential', false] as const, ['as a member', true] as const])('%s', (_, isSignedIn) => {
  const authorization = (): Record<string, string> =>
    isSignedIn ? { authorization: `Bearer ${team.member.token}` } : {};

  test.each(TARGETS.map((target) => [target.slice(0, 60), target]))('every method on %s', async (_name, target) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PATCH', 'DELETE'])
      expectHandled(await send({ method, target, headers: authorization() }));
  });

  test.each([
    '[',
    ']',
    '',
    ' ',
    'x y',
    ':',
    ':99999',
    '[::1',
    '%zz',
    'a'.repeat(5_000),
    '\u00e4',
    'user:pass@x',
    '/..',
  ])('Host: %s', async (host) => {
    for (const target of ['/trpc/auth.me', '/api/auth/me', '/nowhere'])
      expectHandled(await send({ target, headers: { host, ...authorization() } }));
    const login = { email: 'nobody@example.com', password: 'wrong password' };
    for (const [path, json] of [['/api/auth/login', login] as const, ['/trpc/auth.login', login] as const]) {
      const body = JSON.stringify(json);
      const headers = { host, 'content-type': 'application/json', 'content-length': String(body.length) };
      expectHandled(await send({ method: 'POST', target: path, headers, body }));
    }
  });
});

test.each(['[', ']', 'x y', '[::1', 'user:pass@x', '/..', 'x/y', 'x?y', '\u00e4', 'x:port'])(
  'the malformed Host %s returns 400',
  async (host) => {
    for (const target of ['/trpc/auth.me', '/api/auth/me', '/nowhere', '/health']) {
      const { status, body } = await send({ target, headers: { host } });
      const problem = JSON.parse(body);
      expect([status, problem.error.data ?? problem]).toMatchObject([400, { message: 'Malformed Host header' }]);
    }
  },
);

test.each(['localhost', 'example.com:8080', 'example.com.', '[::1]:3000', '127.0.0.1', 'under_score', ''])(
  'the valid Host "%s" is accepted',
  async (host) => {
    expect((await send({ target: '/health', headers: { host } })).status).toBe(200);
  },
);

describe('headers', () => {
  test.each([
    ['cookie', 'session'],
    ['cookie', '=;=;;;session=%zz; session="'],
    ['cookie', 'session=%00'],
    ['cookie', `session=${'x'.repeat(100)}`],
    ['cookie', '__proto__=x; session=y'],
    ['origin', 'null'],
    ['origin', 'http://['],
    ['x-forwarded-host', '['],
    ['x-forwarded-for', '['],
    ['x-forwarded-proto', 'x'],
    ['accept', '/'],
    ['accept-encoding', '*;q=x'],
    ['range', 'bytes=-'],
    ['if-none-match', '"'],
    ['upgrade', 'websocket'],
    ['expect', 'nonsense'],
    ['trpc-accept', 'application/jsonl'],
    ['content-type', '\u00e4'],
    ['x-http-method-override', 'DELETE'],
    ['access-control-request-method', 'x y'],
  ])('%s: %s', async (name, value) => {
    const connection: Record<string, string> = name === 'upgrade' ? { connection: 'upgrade, close' } : {};
    for (const target of ['/trpc/auth.me', '/api/auth/me', '/nowhere', '/docs'])
      expectHandled(await send({ target, headers: { [name]: value, ...connection } }));
    for (const target of ['/trpc/auth.logout', '/api/auth/logout'])
      expectHandled(await send({ method: 'POST', target, headers: { [name]: value, ...connection } }));
  });
});

describe('methods', () => {
  test.each(['DELETE', 'PUT', 'PATCH', 'TRACE', 'PROPFIND', 'HEAD', 'OPTIONS'])('%s on /trpc', async (method) => {
    for (const target of ['/trpc', '/trpc/auth.me', '/trpc/auth.logout', '/trpc/labels.create'])
      expectHandled(await send({ method, target }));
  });

  test('an unknown method returns 400 and closes the connection', async () => {
    expect(await exchange(app.url, 'NONSENSE / HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('bytes that are not HTTP', () => {
  test.each([
    ['plain text', 'hello\r\n\r\n'],
    ['a TLS handshake', Buffer.from('160301020001000001fc0303', 'hex')],
    ['zeros', Buffer.alloc(1_000)],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHo st: x\r\n\r\n'],
    ['no headers', 'GET / HTTP/1.1\r\n\r\n'],
    ['two lengths', 'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    [
      'a malformed chunk',
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: ' +
        'chunked\r\n\r\nzz\r\n',
    ],
    ['64 kB of headers', `GET / HTTP/1.1\r\nHost: x\r\n${'X-Much: y\r\n'.repeat(6_000)}\r\n`],
    ['a header of 64 kB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(65_536)}\r\n\r\n`],
    ['a path of 64 kB', `GET /${'a'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('%s gets a 4xx or no response, and the connection closes', async (_, bytes) => {
    const answer = await exchange(app.url, bytes);
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).not.toMatch(/node_modules|Parse Error|HPE_/);
  });

  test('random bytes never get a 5xx', async () => {
    // A fixed sequence, so that a failure can be repeated.
    let state = 12_345;
    const next = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state >>> 16;
    };
    const starts = ['GET ', 'POST /api/auth/login ', '', 'DELETE /trpc/', 'OPTIONS * HTTP/1.1\r\nHost: '];
    await concurrently(100, async (index) => {
      const noise = Buffer.from(Array.from({ length: next() % 300 }, () => next() & 0xff));
      const bytes = Buffer.concat([Buffer.from(starts[index % starts.length] ?? ''), noise, Buffer.from(' \r\n\r\n')]);
      expect(await exchange(app.url, bytes)).not.toMatch(/^HTTP\/1\.1 5/);
    });
  });
});

test('a body in chunks of one byte is refused before it has cost much, also where nothing reads it', async () => {
  const { path, member } = team;
  const { headers } = await app.http.call('POST', `${path}/library/uploads`, {
    token: member.token,
    headers: { 'tus-resumable': '1.0.0', 'upload-length': '100000', 'upload-metadata': 'filename YS5wZGY=' },
  });
  const upload = new URL(headers.get('location') ?? '').pathname;
  const tus = { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
  const form = { 'content-type': 'multipart/form-data; boundary=x' };
  const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n';
  for (const [method, target, own, first] of [
    ['PATCH', upload, tus, '%PDF-1.7'],
    ['POST', `${path}/library`, form, part],
    ['POST', '/api/auth/login', { 'content-type': 'application/json' }, '{'],
    ['POST', '/trpc/auth.login', { 'content-type': 'application/json' }, '{'],
  ] as const) {
    const body = `${first.length.toString(16)}\r\n${first}\r\n${'1\r\n \r\n'.repeat(2_000)}0\r\n\r\n`;
    const answer = await send({
      method,
      target,
      headers: { authorization: `Bearer ${member.token}`, 'transfer-encoding': 'chunked', ...own },
      body,
    });
    expect([answer.status, JSON.parse(answer.body).message]).toEqual([
      400,
      'The chunks of the body are too small: send at least 32 bytes in each',
    ]);
  }
});

test('clients that disconnect in the middle of a body write nothing', async () => {
  const head = [
    `POST ${team.path}/labels HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${team.owner.token}`,
    'Content-Type: application/json',
    'Content-Length: 1000',
    'Connection: close',
  ].join('\r\n');
  const { hostname, port } = new URL(app.url);
  await concurrently(20, async () => {
    const socket = connect({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve) => socket.write(`${head}\r\n\r\n{"name":`, () => resolve()));
    socket.destroy();
  });
  expect((await app.http.get(`${team.path}/labels`, team.owner.token)).body.labels).toEqual([]);
});
