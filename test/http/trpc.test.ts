/** The protocol of tRPC's links at `/trpc`. */
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  type TRPCClient,
  TRPCClientError,
} from '@trpc/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AppRouter } from '../../packages/client/src/index.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let sent: Request[] = [];
beforeAll(async () => {
  app = await startTestApp({ corsOrigins: ['https://app.example.com'] });
  team = await addTeam(app);
});
afterAll(() => app.close());

function recordingFetch(input: string | URL | Request, init?: object): Promise<Response> {
  const request = new Request(input, init);
  sent.push(request);
  return fetch(request);
}

function connect(link: typeof httpLink | typeof httpBatchLink): TRPCClient<AppRouter> {
  sent = [];
  const url = `${app.url}/trpc`;
  const headers = { authorization: `Bearer ${team.owner.token}`, 'x-trpc-source': 'test' };
  return createTRPCClient<AppRouter>({ links: [link({ url, headers, fetch: recordingFetch })] });
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (!(error instanceof TRPCClientError)) throw new Error('The call did not fail with a TRPCClientError');
  return error.data;
}

function inputOf(value: unknown): string {
  return `input=${encodeURIComponent(JSON.stringify(value))}`;
}

describe.each([
  ['httpLink', httpLink],
  ['httpBatchLink', httpBatchLink],
] as const)('%s', (name, link) => {
  test('sends queries by GET and mutations by POST, and receives their results', async () => {
    const client = connect(link);
    const { label } = await client.labels.create.mutate({ id: team.id, name: `Of ${name}` });
    const { labels } = await client.labels.list.query({ id: team.id });
    expect(labels.map((one) => one.id)).toContain(label.id);
    expect((await client.auth.me.query()).user.id).toBe(team.owner.id);
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
    expect(sent.every(({ headers }) => headers.get('x-trpc-source') === 'test')).toBe(true);
  });

  test('receives the error body, the status and the name of the procedure', async () => {
    const client = connect(link);
    const message = 'id must be a positive 32-bit integer';
    expect(await failureOf(client.labels.list.query({ id: 1.5 }))).toEqual({
      error: message,
      message,
      code: 'BAD_REQUEST',
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      issues: [{ path: 'id', message }],
      httpStatus: 400,
      path: 'labels.list',
    });
    const missing = client.labels.delete.mutate({ id: team.id, labelId: 2_147_483_647 });
    expect(await failureOf(missing)).toMatchObject({ code: 'NOT_FOUND', httpStatus: 404, path: 'labels.delete' });
  });
});

test('a batch of mutations is one request, with a result or an error for each', async () => {
  const client = connect(httpBatchLink);
  const results = await Promise.allSettled(
    ['One', 'One', ''].map((name) => client.labels.create.mutate({ id: team.id, name })),
  );
  expect(sent.map(({ method }) => method)).toEqual(['POST']);
  const failures = results.map((result) => (result.status === 'rejected' ? result.reason.data.httpStatus : 200));
  expect(failures.slice(0, 2).sort()).toEqual([200, 409]);
  expect(failures[2]).toBe(400);
});

test('a batch with one call has a list with one result', async () => {
  const { status, body } = await app.http.get('/trpc/auth.me?batch=1', team.owner.token);
  expect([status, body]).toEqual([200, [{ result: { data: { user: expect.any(Object) } } }]]);
});

test('without batch=1, a comma is part of the name', async () => {
  const { status, body } = await app.http.get('/trpc/auth.me,auth.me', team.owner.token);
  expect([status, body.error.data.path]).toEqual([404, 'auth.me,auth.me']);
});

test('the wrong method returns 405 with Allow, before the credential is checked', async () => {
  const query = await app.http.post('/trpc/auth.me', undefined, {});
  const mutation = await app.http.get('/trpc/labels.create');
  expect([query.status, query.headers.get('allow')]).toEqual([405, 'GET']);
  expect([mutation.status, mutation.headers.get('allow')]).toEqual([405, 'POST']);
});

test('HEAD returns 204, and other methods 405 with Allow', async () => {
  const head = await app.http.call('HEAD', '/trpc/auth.me');
  expect([head.status, head.headers.get('content-type')]).toEqual([204, null]);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const { status, headers } = await app.http.call(method, '/trpc/auth.me');
    expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD, POST']);
  }
});

describe('malformed input', () => {
  test.each([
    ['a query', (token?: string) => app.http.get('/trpc/labels.list?input={', token)],
    ['a batch', (token?: string) => app.http.get('/trpc/labels.list,labels.list?batch=1&input={', token)],
    ['a mutation', (token?: string) => post('/trpc/labels.create', '{', token)],
  ])('of %s returns 400 after the credential was checked', async (_, call) => {
    expect((await call()).status).toBe(401);
    const { status, body } = await call(team.owner.token);
    const [first] = [body].flat();
    expect([status, first.error.message]).toEqual([400, 'Request body must be valid JSON']);
    expect(first.error.data.issues).toEqual([{ path: '', message: 'Request body must be valid JSON' }]);
  });

  test('of a procedure without input is ignored', async () => {
    expect((await app.http.get('/trpc/auth.me?input={', team.owner.token)).status).toBe(200);
  });

  test('of a batch that is no object returns 400', async () => {
    const { status, body } = await app.http.get('/trpc/labels.list?batch=1&input=[]', team.owner.token);
    expect([status, body[0].error.message]).toEqual([400, '"input" needs to be an object when doing a batch call']);
  });

  test('a byte order mark is not malformed', async () => {
    const body = `\u{feff}${JSON.stringify({ id: team.id, name: 'Marked' })}`;
    expect((await post('/trpc/labels.create', body, team.owner.token)).status).toBe(200);
  });
});

test('the first of two inputs counts', async () => {
  const url = `/trpc/workspaces.read?${inputOf({ id: team.id })}&${inputOf({ id: 2_147_483_647 })}`;
  expect((await app.http.get(url, team.owner.token)).status).toBe(200);
});

test.each(['trpc-accept', 'accept'])('a streamed batch is refused when %s asks for it', async (header) => {
  const { status, body } = await app.http.call('GET', '/trpc/auth.me,auth.me?batch=1', {
    token: team.owner.token,
    headers: { [header]: 'application/jsonl' },
  });
  expect([status, body.error.message]).toEqual([400, 'Streamed batches are not supported: use httpBatchLink']);
});

test('a response for one origin says so to caches', async () => {
  const origin = 'https://app.example.com';
  const { headers } = await app.http.call('GET', '/trpc/auth.me', { token: team.owner.token, headers: { origin } });
  expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([
    origin,
    'Accept-Encoding, Origin',
  ]);
  expect(headers.get('access-control-allow-credentials')).toBe('true');
});

describe('a batch that is refused as a whole says why, with a request ID', () => {
  type Refused = { method: string; names: string; input: string; type?: string };
  const refused: [string, Refused, number, string][] = [
    ['more than 50 calls', query(Array(51).fill('auth.me').join(',')), 400, 'A batch has at most 50 calls'],
    [
      'a path that is too long',
      query(Array(400).fill('workspaces.read').join(',')),
      414,
      'A path parameter is too long',
    ],
    [
      'a query and a mutation',
      query('auth.me,auth.logout'),
      400,
      'Cannot mix procedure types in call: query, mutation',
    ],
    ['another content type', { ...mutations(), type: 'text/plain' }, 415, 'Content type must be application/json'],
    ['a body over the limit', mutations('x'.repeat(1_100_000)), 413, 'Request body is too large'],
    ['an unknown path', query('auth.me/auth.me'), 404, 'Not found'],
  ];
  test.each(refused)('%s', async (_, { method, names, input, type = 'application/json' }, expected, message) => {
    const isQuery = method === 'GET';
    const url = `/trpc/${names}?batch=1${isQuery ? `&input=${input}` : ''}`;
    const { status, headers, body } = await app.http.call(method, url, {
      token: team.owner.token,
      ...(!isQuery && { body: input, headers: { 'content-type': type } }),
    });
    expect([status, body]).toEqual([
      expected,
      { error: expect.objectContaining({ code: expect.any(Number), message }) },
    ]);
    expect(body.error.data).toMatchObject({ message, httpStatus: expected, request_id: headers.get('x-request-id') });
  });

  test('and each call of a batch with the wrong method or an unknown name does', async () => {
    const { status, body } = await app.http.get('/trpc/labels.create,labels.unknown?batch=1', team.owner.token);
    const failures = body.map((one: { error: { data: { code: string; request_id: string } } }) => one.error.data);
    expect([status, failures.map(({ code }: { code: string }) => code)]).toEqual([
      207,
      ['METHOD_NOT_ALLOWED', 'NOT_FOUND'],
    ]);
    for (const { request_id } of failures) expect(request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['httpBatchLink', httpBatchLink],
    ['httpBatchStreamLink', httpBatchStreamLink],
  ])('to clients with %s', async (name, link) => {
    const client = createTRPCClient<AppRouter>({
      links: [link({ url: `${app.url}/trpc`, headers: { authorization: `Bearer ${team.owner.token}` } })],
    });
    const failures = await Promise.all(Array.from({ length: 51 }, () => failureOf(client.auth.me.query())));
    const message =
      name === 'httpBatchLink'
        ? 'A batch has at most 50 calls'
        : 'Streamed batches are not supported: use httpBatchLink';
    expect(failures).toEqual(
      Array(51).fill(expect.objectContaining({ message, code: 'BAD_REQUEST', request_id: expect.any(String) })),
    );
  });
});

function query(names: string) {
  return { method: 'GET', names, input: '%7B%7D' };
}

function mutations(name = 'One') {
  return { method: 'POST', names: 'labels.create,labels.create', input: JSON.stringify({ 0: { name } }) };
}

function post(path: string, body: string, token?: string) {
  return app.http.call('POST', path, { token, body, headers: { 'content-type': 'application/json' } });
}
