/** HTTP itself: HEAD, wrong methods, unknown paths, CORS preflights, error bodies, batches, and path parameters. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, isLynxroomError } from '../../packages/client/src/index.ts';
import { operations, rawOperations } from '../support/api.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

const methodsOf = new Map<string, Set<string>>();
for (const { method, path } of [...operations, ...rawOperations]) {
  const methods = methodsOf.get(path) ?? new Set();
  methodsOf.set(path, methods.add(method));
  if (method === 'GET') methods.add('HEAD');
}

function problem(code: string, message: string) {
  return { error: message, message, code, request_id: expect.any(String) };
}

describe.each([...methodsOf])('%s', (path, methods) => {
  const target = path.replace(/\{\w+\}/g, '1');

  test('any other method returns 405 with Allow, to any caller and for any body', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (methods.has(method)) continue;
      const answer = await app.http.call(method, target, {
        ...(method !== 'GET' && { body: '{', headers: { 'content-type': 'application/json' } }),
      });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([
        method,
        405,
        [...methods].sort().join(', '),
      ]);
      expect(answer.body).toEqual(problem('METHOD_NOT_ALLOWED', 'Method not allowed'));
    }
  });

  test('a CORS preflight is allowed, without credentials', async () => {
    const { status, headers } = await app.http.call('OPTIONS', target, {
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'PATCH' },
    });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
    // So a foreign page cannot use the cookie.
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });
});

test('every response forbids MIME sniffing and framing by other sites', async () => {
  for (const path of ['/api/auth/me', '/nowhere', '/trpc/auth.me', '/health', '/openapi.json']) {
    const { headers } = await app.http.get(path);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
  }
});

test('a response that a browser opens as a page loads nothing, and the docs load from the service', async () => {
  const policies = await Promise.all(
    ['/health', '/nowhere', '/openapi.json', '/docs'].map(async (path) => {
      const { headers } = await app.http.get(path);
      expect(headers.get('strict-transport-security')).toContain('max-age=31536000');
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      const directives = headers.get('content-security-policy')?.split(/; ?/) ?? [];
      return directives.filter((directive) => /^(?:default|script)-src /.test(directive));
    }),
  );
  const nothing = ["default-src 'none'"];
  expect(policies).toEqual([nothing, nothing, nothing, [...nothing, "script-src 'self'"]]);
});

test('pages of other origins may read the headers of responses to them', async () => {
  const readable = 'x-request-id, retry-after, www-authenticate';
  const exposedTo = async (headers: Record<string, string>): Promise<string | null> =>
    (await app.http.call('GET', '/health', { headers })).headers.get('access-control-expose-headers');
  expect(await exposedTo({ origin: 'https://elsewhere.example' })).toContain(readable);
  expect(await exposedTo({})).toBeNull();
});

test('OPTIONS without the headers of a preflight returns 400', async () => {
  const { status, body } = await app.http.call('OPTIONS', '/api/workspaces');
  expect([status, body]).toEqual([
    400,
    {
      error: 'OPTIONS needs the headers Origin and Access-Control-Request-Method',
      message: 'OPTIONS needs the headers Origin and Access-Control-Request-Method',
      code: 'BAD_REQUEST',
      request_id: expect.any(String),
    },
  ]);
});

describe('HEAD', () => {
  test.each(['/api/auth/me', '/api/workspaces', '/health'])(
    '%s returns the status and headers of GET, without a body',
    async (path) => {
      const get = await app.http.get(path, team.owner.token);
      const head = await app.http.call('HEAD', path, { token: team.owner.token });
      expect([head.status, head.body]).toEqual([get.status, undefined]);
      for (const name of ['content-type', 'content-length']) expect(head.headers.get(name)).toBe(get.headers.get(name));
    },
  );

  test('is rejected as GET is', async () => {
    expect((await app.http.call('HEAD', '/api/auth/me')).status).toBe(401);
    expect((await app.http.call('HEAD', team.path, { token: team.outsider.token })).status).toBe(403);
  });
});

describe('an unknown path', () => {
  test.each([
    '/api',
    '/api/',
    '/api/unknown',
    '/api/workspace',
    '/API/workspaces',
    '/apis',
    '/api/auth',
    '/api/auth/me/x',
  ])('%s returns 404 with the error body', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, body } = await app.http.call(method, path, { token: team.owner.token });
      expect([method, status, body]).toEqual([method, 404, problem('NOT_FOUND', 'Not found')]);
    }
  });
});

describe('a path', () => {
  test('is percent-decoded, and takes a literal part before a parameter', async () => {
    const encoded = [...String(team.id)].map((digit) => `%3${digit}`).join('');
    expect((await app.http.get(`/api/workspaces/${encoded}`, team.owner.token)).body.workspace.id).toBe(team.id);
    const join = await app.http.post('/api/workspaces/join/invite', team.owner.token);
    expect([join.status, join.body.message]).toEqual([404, 'Invite not found']);
  });

  test.each(['2147483648', '9007199254740993', '9223372036854775808', '-1', '0', '-0'])(
    'with the ID %s, which cannot exist, returns the 404 of an unknown ID',
    async (id) => {
      const { status, body } = await app.http.get(`/api/workspaces/${id}`, team.owner.token);
      expect([status, body]).toEqual([404, problem('NOT_FOUND', 'Workspace not found')]);
    },
  );

  test.each(['1.5', '1.0', '1e0', '01', '+1', '1%20', '%D9%A1', '0x1', 'NaN', '9'.repeat(400)])(
    'with the ID %s, which is no integer, returns 400 with issues',
    async (id) => {
      const message = 'id must be a positive 32-bit integer';
      const { status, body } = await app.http.get(`/api/workspaces/${id}`, team.owner.token);
      expect([status, body]).toEqual([400, { ...problem('BAD_REQUEST', message), issues: [{ path: 'id', message }] }]);
    },
  );
});

test('every error has the same body, over both transports', async () => {
  const { token } = team.member;
  const refusals = [
    await app.http.get('/api/auth/me'),
    await app.http.get(team.path, team.outsider.token),
    await app.http.get('/api/workspaces/2147483647', token),
    await app.http.get('/nowhere'),
    await app.http.call('PUT', team.path),
    await app.http.call('POST', '/api/auth/login', { body: '{', headers: { 'content-type': 'application/json' } }),
    await app.http.call('POST', '/api/auth/login', { body: 'x', headers: { 'content-type': 'text/plain' } }),
    await app.http.post('/api/auth/login', undefined, { email: 'x'.repeat(2_000_000) }),
    await app.http.get('/%zz'),
    await app.http.get('/files/x?expires=1'),
    await app.http.call('DELETE', '/trpc/auth.me'),
    await app.http.post('/trpc/auth.login', undefined, { email: 'x'.repeat(2_000_000) }),
  ];
  expect(refusals.map(({ status }) => status)).toEqual([401, 403, 404, 404, 405, 400, 415, 413, 400, 403, 405, 413]);
  for (const { status, body, headers } of refusals) {
    // In tRPC the same fields are in `data`.
    const { issues, httpStatus, path, ...rest } = body.error.data ?? body;
    expect(rest).toEqual(problem(rest.code, rest.message));
    expect(rest.request_id).toBe(headers.get('x-request-id'));
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  }
});

describe('tRPC', () => {
  test('returns 404 for an unknown procedure and 405 for a mutation by GET, in its envelope', async () => {
    for (const [path, status, code] of [
      ['/trpc/labels.unknown', 404, 'NOT_FOUND'],
      ['/trpc/toString', 404, 'NOT_FOUND'],
      ['/trpc/__proto__', 404, 'NOT_FOUND'],
      ['/trpc/labels', 404, 'NOT_FOUND'],
      ['/trpc/auth.logout', 405, 'METHOD_NOT_ALLOWED'],
    ] as const) {
      const answer = await app.http.get(path, team.owner.token);
      expect([path, answer.status, answer.body.error?.data?.code]).toEqual([path, status, code]);
    }
    expect((await app.http.get('/api/auth/me', team.owner.token)).status).toBe(200);
  });

  test('returns a result or an error for each call of a batch', async () => {
    const input = encodeURIComponent(JSON.stringify({ 0: { id: team.id }, 1: { id: 2_147_483_647 }, 2: { id: 'x' } }));
    const names = 'workspaces.read,workspaces.read,workspaces.read,auth.me';
    const { status, body } = await app.http.get(`/trpc/${names}?batch=1&input=${input}`, team.member.token);
    expect(status).toBe(207);
    expect(body.map((one: { error?: { data: { httpStatus: number } } }) => one.error?.data.httpStatus ?? 200)).toEqual([
      200, 404, 400, 200,
    ]);
    expect(body[0].result.data.workspace.id).toBe(team.id);
  });

  test('returns 401 and the challenge for a batch without a credential', async () => {
    const { status, headers } = await app.http.get('/trpc/auth.me,auth.me?batch=1');
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  test('rejects a batch of more than 50 calls', async () => {
    const batch = (calls: number) =>
      app.http.get(`/trpc/${Array(calls).fill('auth.me').join(',')}?batch=1`, team.member.token);
    expect((await batch(50)).status).toBe(200);
    const { status, body } = await batch(51);
    expect(status).toBe(400);
    expect(body.error.data).toMatchObject({
      message: 'A batch has at most 50 calls',
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('the typed client batches the calls of one tick, and each gets its own result or error', async () => {
    let requests = 0;
    const counting: typeof fetch = (input, init) => {
      requests += 1;
      return fetch(input, init);
    };
    const client = createClient({ url: app.url, token: team.member.token, fetch: counting });
    const [me, workspace, unknown] = await Promise.allSettled([
      client.auth.me.query(),
      client.workspaces.read.query({ id: team.id }),
      client.workspaces.read.query({ id: 2_147_483_647 }),
    ]);
    expect(requests).toBe(1);
    expect([me.status, workspace.status, unknown.status]).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const reason: unknown = unknown.status === 'rejected' ? unknown.reason : undefined;
    expect(isLynxroomError(reason)).toBe(true);
    expect(reason).toMatchObject({ status: 404, code: 'NOT_FOUND', message: 'Workspace not found' });
  });
});
