/** Rate limits: what is counted together, what the answers contain, and who is exempt. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRateLimits, type RateLimitSettings } from '../../src/auth/rate-limits.ts';
import { createSharedCounts } from '../../src/auth/shared-counts.ts';
import { AppError } from '../../src/core/errors.ts';
import { transports, viaRest } from '../contract/transports.ts';
import { callFrom } from '../support/call-from.ts';
import type { Answer } from '../support/http.ts';
import { createManualTicker } from '../support/manual-ticker.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD } from '../support/world.ts';

let app: TestApp;
let started: TestApp | undefined;
afterEach(async () => {
  await started?.close();
  started = undefined;
});

function login(email: string, password = 'wrong password') {
  return app.http.post('/api/auth/login', undefined, { email, password });
}

function expectTooMany({ status, body, headers }: Answer, limit: number): void {
  expect(status).toBe(429);
  expect(body).toMatchObject({ code: 'TOO_MANY_REQUESTS', error: body.message });
  const seconds = Number(headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(headers.get('ratelimit-limit')).toBe(String(limit));
  expect(headers.get('ratelimit-remaining')).toBe('0');
  expect(headers.get('ratelimit-reset')).toBe(String(seconds));
}

describe('signing in, per email and network', () => {
  beforeEach(async () => {
    app = started = await startTestApp({ limits: { signInPerEmail: 3 } });
  });

  test('counts all attempts regardless of case and outcome, and then rejects even the correct password', async () => {
    const { email } = await addPerson(app);
    expect((await login(email, PASSWORD)).status).toBe(200);
    expect((await login(email.toUpperCase())).status).toBe(401);
    expect((await login(` ${email}`)).status).toBe(401);
    expectTooMany(await login(email, PASSWORD), 3);
    expectTooMany(await app.http.post('/trpc/auth.login', undefined, { email, password: PASSWORD }).then(fromTrpc), 3);
  });

  test('does not affect other email addresses, and limits unknown ones in the same way', async () => {
    const [first, second] = [await addPerson(app), await addPerson(app)];
    for (const email of [first.email, 'nobody@example.com']) {
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 4; attempt += 1) statuses.push((await login(email)).status);
      expect(statuses).toEqual([401, 401, 401, 429]);
    }
    expect((await login(second.email, PASSWORD)).status).toBe(200);
  });

  test.each(transports)('over %s, wrong passwords lock nobody out elsewhere', async (_, transport) => {
    const { email, token } = await addPerson(app);
    const path = transport === viaRest ? '/api/auth/login' : '/trpc/auth.login';
    const json = { email, password: 'wrong password' };
    for (const status of [401, 401, 401, 429])
      expect(await callFrom(app.url + path, { method: 'POST', localAddress: '127.0.0.5', json })).toMatchObject({
        status,
      });
    const change = { password: 'another password', current_password: PASSWORD };
    expect((await transport(app, { name: 'auth.updateMe', token, input: change })).status).toBe(200);
    const input = { email, password: 'another password' };
    expect((await transport(app, { name: 'auth.login', input })).status).toBe(200);
  });
});

describe.each(transports)('changing the password, over %s', (_, transport) => {
  test('has a limit per session: guessing in a stolen one does not keep the user from it', async () => {
    app = started = await startTestApp({ limits: { signInPerEmail: 3 } });
    const { email, token } = await addPerson(app);
    const stolen = (await login(email, PASSWORD)).body.token;
    const change = async (session: string, current_password: string) => {
      const input = { password: 'another password', current_password };
      return (await transport(app, { name: 'auth.updateMe', token: session, input })).status;
    };
    for (const status of [400, 400, 400, 429]) expect(await change(stolen, 'a guess')).toBe(status);
    expect(await change(stolen, PASSWORD)).toBe(429);
    expect((await transport(app, { name: 'auth.updateMe', token: stolen, input: { name: 'Renamed' } })).status).toBe(
      200,
    );
    expect(await change(token, PASSWORD)).toBe(200);
  });
});

/** Moves the error of a tRPC answer to where REST has it. */
function fromTrpc(answer: Answer): Answer {
  return { ...answer, body: answer.body.error.data };
}

test('signing in, per network: registration and login count together, whatever the email address', async () => {
  app = started = await startTestApp({ limits: { signInPerAddress: 3 } });
  const { email } = await addPerson(app);
  expect((await login('a@example.com')).status).toBe(401);
  expect((await app.http.post('/api/auth/login', undefined, {})).status).toBe(400);
  expectTooMany(await login(email, PASSWORD), 3);
  const register = { name: 'New', email: 'new@example.com', password: PASSWORD };
  expectTooMany(await app.http.post('/api/auth/register', undefined, register), 3);
  expect(await app.services.db.user.count()).toBe(1);
});

test('X-Forwarded-For is not trusted: it does not give a caller a separate limit', async () => {
  app = started = await startTestApp({ limits: { signInPerAddress: 2 } });
  const statuses: number[] = [];
  for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.3'])
    statuses.push(
      (
        await app.http.call('POST', '/api/auth/login', {
          json: { email: 'a@example.com', password: 'wrong password' },
          headers: { 'x-forwarded-for': address, forwarded: `for=${address}` },
        })
      ).status,
    );
  expect(statuses).toEqual([401, 401, 429]);
});

test('per user: both transports and all sessions count together, and headers tell what remains', async () => {
  app = started = await startTestApp({ limits: { perUser: 3 } });
  const { token, email } = await addPerson(app);
  const stranger = await addPerson(app);
  const other = (await login(email, PASSWORD)).body.token;
  const first = await app.http.get('/api/auth/me', token);
  expect([first.status, first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual([
    200,
    '3',
    '2',
  ]);
  expect((await app.http.get('/trpc/auth.me', token)).status).toBe(200);
  expect((await app.http.get('/api/workspaces/2147483647', token)).status).toBe(404);
  expectTooMany(await app.http.get('/api/auth/me', token), 3);
  expectTooMany(fromTrpc(await app.http.get('/trpc/auth.me', token)), 3);
  expectTooMany(await app.http.get('/api/auth/me', other), 3);
  expect((await app.http.get('/api/auth/me', stranger.token)).status).toBe(200);
});

test('an embed token counts by itself, and uses up nothing of its maker', async () => {
  app = started = await startTestApp({ limits: { perUser: 10 } });
  const { id, owner } = await addTeam(app);
  const path = `/api/workspaces/${id}/embed-tokens`;
  const tokens: string[] = [];
  for (const _ of [1, 2]) tokens.push((await app.http.post(path, owner.token, { kind: 'library' })).body.token);
  const read = (token = '') => app.http.get(`/api/workspaces/${id}/library`, token);
  for (let call = 0; call < 10; call += 1) expect((await read(tokens[0])).status).toBe(200);
  expectTooMany(await read(tokens[0]), 10);
  expect([(await read(tokens[1])).status, (await read(owner.token)).status]).toEqual([200, 200]);
});

test('per user: every call of a batch counts', async () => {
  app = started = await startTestApp({ limits: { perUser: 3 } });
  const { token } = await addPerson(app);
  const { body } = await app.http.get(`/trpc/${Array(5).fill('auth.me').join(',')}?batch=1`, token);
  const statuses = body.map((one: { error?: { data: { httpStatus: number } } }) => one.error?.data.httpStatus ?? 200);
  expect(statuses.sort()).toEqual([200, 200, 200, 429, 429]);
});

test('with a wrong credential: 401 becomes 429, and signed-in callers are not affected', async () => {
  app = started = await startTestApp({ limits: { publicPerAddress: 3 } });
  const team = await addTeam(app);
  const statuses: number[] = [];
  for (const letter of ['A', 'B', 'C', 'D'])
    statuses.push((await app.http.get(team.path, `lns_${letter.repeat(43)}`)).status);
  expect(statuses).toEqual([401, 401, 401, 429]);
  const token = `lnx_${'A'.repeat(43)}`;
  expectTooMany(await app.http.get('/api/auth/me', token), 3);
  expectTooMany(await app.http.call('POST', `${team.path}/library`, { token, body: 'x' }), 3);
  expect((await app.http.get(team.path, team.member.token)).status).toBe(200);
});

test('without a credential, nothing is guessed: 401 becomes 429 only with the looser limit', async () => {
  app = started = await startTestApp({ limits: { publicPerAddress: 1, perUser: 3 } });
  const { path } = await addTeam(app);
  const statuses: number[] = [];
  for (let call = 0; call < 3; call += 1) statuses.push((await app.http.get('/api/auth/me')).status);
  expect(statuses).toEqual([401, 401, 401]);
  expectTooMany(await app.http.get(path), 3);
  expectTooMany(await app.http.call('POST', `${path}/library`, { body: 'x' }), 3);
});

test('0 disables a limit, and no header is sent', async () => {
  app = started = await startTestApp();
  const { token } = await addPerson(app);
  for (let call = 0; call < 20; call += 1) {
    const { status, headers } = await app.http.get('/api/auth/me', token);
    expect([status, headers.get('ratelimit-limit')]).toEqual([200, null]);
  }
});

test.each([
  ['X-Forwarded-For', '127.0.0.1'],
  ['Forwarded', 'for=127.0.0.1'],
  ['X-Real-IP', '127.0.0.1'],
  ['Via', '1.1 proxy'],
  ['X-Forwarded-Host', 'localhost'],
  ['X-Forwarded-Proto', 'https'],
  ['True-Client-IP', '127.0.0.1'],
  ['CF-Connecting-IP', '127.0.0.1'],
  ['Host', 'api.example.com'],
  ['Host', '127.0.0.1.example.com'],
])('callers on loopback are not exempt with %s: %s, which shows a proxy', async (name, value) => {
  app = started = await startTestApp({ limits: { perUser: 1, exemptLoopback: true } });
  const call = async (path: string): Promise<number> => {
    const { status } = await callFrom(app.url + path, { headers: { [name]: value } });
    return status;
  };
  expect(await call('/api/dashboard/generate-name')).toBe(200);
  expect(await call('/api/dashboard/generate-name')).toBe(429);
  expect(await call('/trpc/rooms.generateName')).toBe(429);
  expect((await app.http.get('/api/dashboard/generate-name')).status).toBe(200);
});

test('callers on loopback are exempt if the settings say so', async () => {
  const one = { signInPerEmail: 1, signInPerAddress: 1, publicPerAddress: 1, perUser: 1 };
  app = started = await startTestApp({ limits: { ...one, exemptLoopback: true } });
  const { token, email } = await addPerson(app);
  for (let call = 0; call < 3; call += 1) {
    expect((await app.http.get('/api/auth/me', token)).status).toBe(200);
    expect((await app.http.get('/api/auth/me')).status).toBe(401);
    expect((await login(email)).status).toBe(401);
  }
});

describe('the exemption', () => {
  const settings: RateLimitSettings = {
    signInPerEmail: 0,
    signInPerAddress: 0,
    publicPerAddress: 1,
    perUser: 0,
    exportPerUser: 0,
    exemptLoopback: true,
  };
  const secondCall = async (address: string): Promise<unknown> => {
    app = started = await startTestApp();
    // No time passes, so nothing is shared.
    const limits = createRateLimits(settings, createSharedCounts(app.services, createManualTicker()));
    const call = () => limits.consume('publicPerAddress', 'key', { address, isDirect: true, setHeader: () => {} });
    call();
    try {
      return call();
    } catch (error) {
      return error instanceof AppError ? error.code : error;
    }
  };
  test.each(['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1'])('applies to %s', async (address) => {
    expect(await secondCall(address)).toBeUndefined();
  });

  test.each(['128.0.0.1', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '127.0.0.1.example', '::2', ''])(
    'does not apply to %j',
    async (address) => {
      expect(await secondCall(address)).toBe('TOO_MANY_REQUESTS');
    },
  );
});
