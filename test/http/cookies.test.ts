/** The session cookie of browsers: how it is set, which requests it authorizes, and how it ends. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeRequest } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function call(method: string, path: string, cookie: string, headers: Record<string, string> = {}, json?: unknown) {
  return app.http.call(method, path, { headers: { cookie, ...headers }, json });
}

/** Signs in, and returns the cookie as a browser sends it back. */
async function signIn(): Promise<{ cookie: string; header: string; token: string }> {
  const { email } = await addPerson(app);
  const answer = await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD });
  const header = answer.headers.get('set-cookie') ?? '';
  return { cookie: header.split(';')[0] ?? '', header, token: answer.body.token };
}

test('registering and logging in set a cookie that scripts cannot read, over both transports', async () => {
  const { email } = await addPerson(app);
  const attributes = async (path: string, json: object): Promise<string[]> => {
    const { headers, body } = await app.http.post(path, undefined, json);
    const [value, ...rest] = (headers.get('set-cookie') ?? '').split('; ');
    expect(value).toBe(`session=${body.token ?? body.result.data.token}`);
    return rest.filter((part) => !part.startsWith('Expires=')).sort();
  };
  const expected = ['HttpOnly', 'Path=/', 'SameSite=Lax'];
  const credentials = { email, password: PASSWORD };
  expect(await attributes('/api/auth/login', credentials)).toEqual(expected);
  expect(await attributes('/trpc/auth.login', credentials)).toEqual(expected);
  const account = { name: 'New', email: 'cookie@example.com', password: PASSWORD };
  expect(await attributes('/api/auth/register', account)).toEqual(expected);
});

test('the cookie is Secure if the public URL of the service is https', async () => {
  const secure = await startTestApp({ settings: { publicUrl: 'https://api.example' } });
  try {
    const { email } = await addPerson(secure);
    const { headers } = await secure.http.post('/api/auth/login', undefined, { email, password: PASSWORD });
    expect(headers.get('set-cookie')).toMatch(/; Secure/);
  } finally {
    await secure.close();
  }
});

test('the cookie lasts as long as the session', async () => {
  const { header, token } = await signIn();
  const expires = Date.parse(/Expires=([^;]+)/.exec(header)?.[1] ?? '') / 1000;
  expect(Math.abs(expires - Date.now() / 1000 - 30 * 86_400)).toBeLessThan(60);
  expect(token).toMatch(/^lns_/);
});

test('the cookie authorizes reads from any origin', async () => {
  const { cookie } = await signIn();
  for (const headers of [{}, { origin: 'https://evil.example' }]) {
    expect((await call('GET', '/api/auth/me', cookie, headers)).status).toBe(200);
    expect((await call('GET', '/trpc/auth.me', cookie, headers)).status).toBe(200);
  }
});

test.each([
  ['no Origin', {}],
  ['a foreign Origin', { origin: 'https://evil.example' }],
  ['the Origin of a sandbox', { origin: 'null' }],
  ['an empty Origin', { origin: '' }],
  ['only a Referer of the service', { referer: 'http://127.0.0.1/' }],
])('the cookie does not authorize writes with %s: they return 403 and write nothing', async (_, headers) => {
  const { cookie, token } = await signIn();
  const json = { name: 'Forged' };
  for (const path of ['/api/workspaces', '/trpc/workspaces.create']) {
    const { status, body } = await call('POST', path, cookie, headers, json);
    expect([status, (body.error?.data ?? body).message]).toEqual([
      403,
      'Cross-origin request refused: add the origin of the page to CORS_ORIGINS, or send a token',
    ]);
  }
  expect((await call('DELETE', '/api/auth/me', cookie, headers)).status).toBe(403);
  expect((await call('POST', '/api/auth/logout', cookie, headers)).status).toBe(403);
  const own = await app.http.get('/api/workspaces', token);
  expect(own.body.workspaces).toHaveLength(1);
});

test('the cookie authorizes writes from the origin of the service and from trusted origins', async () => {
  const trusting = await startTestApp({ settings: { trustedOrigins: ['https://app.example'] } });
  try {
    const { token } = await addPerson(trusting);
    for (const [origin, status] of [
      [trusting.url, 200],
      ['https://app.example', 200],
      ['https://app.example.evil.example', 403],
      ['http://app.example', 403],
    ] as const)
      for (const path of ['/api/workspaces', '/trpc/workspaces.create']) {
        const headers = { cookie: `session=${token}`, origin };
        const answer = await trusting.http.call('POST', path, { headers, json: { name: 'Own' } });
        expect([origin, answer.status]).toEqual([origin, status]);
      }
  } finally {
    await trusting.close();
  }
});

test('an Authorization header replaces the cookie, whether it is valid or not', async () => {
  const { cookie } = await signIn();
  const other = await addPerson(app, 'Other');
  const withHeader = (authorization: string) => call('GET', '/api/auth/me', cookie, { authorization });
  expect((await withHeader(`Bearer ${other.token}`)).body.user.id).toBe(other.id);
  for (const wrong of ['Bearer x', 'Basic x', '']) expect((await withHeader(wrong)).status).toBe(401);
  const headers = { authorization: `Bearer ${other.token}`, origin: 'https://evil.example' };
  expect((await call('POST', '/api/workspaces', cookie, headers, { name: 'By header' })).status).toBe(200);
});

test('logging out and deleting the account clear the cookie and end its session', async () => {
  for (const [method, path] of [
    ['POST', '/api/auth/logout'],
    ['DELETE', '/api/auth/me'],
  ] as const) {
    const { cookie } = await signIn();
    const { status, headers } = await call(method, path, cookie, { origin: app.url });
    expect([status, headers.get('set-cookie')]).toEqual([
      200,
      expect.stringMatching(/^session=;.*Expires=Thu, 01 Jan 1970/),
    ]);
    expect((await call('GET', '/api/auth/me', cookie)).status).toBe(401);
  }
});

test('the cookie does not authorize a form on a foreign page', async () => {
  const { cookie } = await signIn();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const answer = await exchangeRequest(app.url, {
      method: 'POST',
      target: '/api/workspaces',
      headers: { cookie, origin: 'https://evil.example', 'content-type': type, 'content-length': '12' },
      body: '{"name":"x"}',
    });
    expect([403, 415]).toContain(answer.status);
  }
  expect((await call('GET', '/api/workspaces', cookie)).body.workspaces).toHaveLength(1);
});
