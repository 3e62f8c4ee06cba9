/** Sessions: signing in and out, how long a session lasts, and invalid credentials. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPasswords } from '../../src/auth/passwords.ts';
import { deleteExpiredSessions } from '../../src/features/auth/sessions.ts';
import { eventually } from '../support/eventually.ts';
import { exchangeRequest } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD } from '../support/world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function login(email: string, password = PASSWORD) {
  return app.http.post('/api/auth/login', undefined, { email, password });
}

function me(token: string) {
  return app.http.get('/api/auth/me', token);
}

describe('signing in', () => {
  test('returns the same fields as registering, with a new token each time', async () => {
    const { email, id, token } = await addPerson(app);
    const [first, second] = [await login(email), await login(` ${email.toUpperCase()} `)];
    for (const { status, body } of [first, second]) {
      expect(status).toBe(200);
      expect(Object.keys(body).sort()).toEqual(['expires_at', 'token', 'user']);
      expect(body.user).toMatchObject({ id, email });
    }
    expect(new Set([token, first.body.token, second.body.token]).size).toBe(3);
    for (const each of [token, first.body.token, second.body.token]) expect((await me(each)).status).toBe(200);
  });

  test('returns the same answer for a wrong password and an unknown email address', async () => {
    const { email } = await addPerson(app);
    const wrong = await login(email, 'wrong password');
    const unknown = await login('nobody@example.com', 'wrong password');
    const without = ({ status, body: { request_id, ...body }, headers }: typeof wrong) => ({
      status,
      body,
      challenge: headers.get('www-authenticate'),
      cookie: headers.get('set-cookie'),
      length: headers.get('content-length'),
    });
    expect(without(wrong)).toEqual(without(unknown));
    expect(wrong).toMatchObject({ status: 401, body: { message: 'Wrong email or password', code: 'UNAUTHORIZED' } });
  });

  test('takes as long for an unknown email address, because it hashes a password too', async () => {
    const own = await startTestApp({ passwords: createPasswords(2) });
    try {
      const { email } = await addPerson(own);
      const times: Record<'wrong' | 'unknown', number[]> = { wrong: [], unknown: [] };
      const addresses = { wrong: email, unknown: 'nobody@example.com' } as const;
      // Alternately, so that a busy machine slows both.
      for (let round = 0; round < 15; round += 1)
        for (const which of ['wrong', 'unknown'] as const) {
          const start = performance.now();
          await own.http.post('/api/auth/login', undefined, { email: addresses[which], password: 'wrong password' });
          times[which].push(performance.now() - start);
        }
      const median = (values: number[]): number => values.sort((a, b) => a - b)[7] ?? 0;
      const [wrong, unknown] = [median(times.wrong), median(times.unknown)];
      // Without the hash it would take a tenth of the time.
      expect(unknown).toBeGreaterThan(wrong / 2);
    } finally {
      await own.close();
    }
  });

  test.each(['', ' ', 'short', 'x'.repeat(200)])('with the password %j is 401, not 400', async (password) => {
    const { email } = await addPerson(app);
    expect((await login(email, password)).status).toBe(401);
  });
});

describe('signing out', () => {
  test('ends the session of the call and no other', async () => {
    const { email, token } = await addPerson(app);
    const other = (await login(email)).body.token;
    expect(await app.http.post('/api/auth/logout', token)).toMatchObject({ status: 200, body: { ok: true } });
    expect((await me(token)).status).toBe(401);
    expect((await app.http.post('/api/auth/logout', token)).status).toBe(401);
    expect((await me(other)).status).toBe(200);
  });
});

describe('a session', () => {
  test('lasts exactly 30 days, and is not extended by use', async () => {
    const own = await startTestApp();
    try {
      const { token } = await addPerson(own);
      const team = await addTeam(own);
      own.clock.advance(30 * DAY_MS - MINUTE_MS);
      expect((await own.http.get('/api/auth/me', token)).status).toBe(200);
      own.clock.advance(2 * MINUTE_MS);
      expect((await own.http.get('/api/auth/me', token)).status).toBe(401);
      expect((await own.http.get(team.path, team.owner.token)).status).toBe(401);
    } finally {
      await own.close();
    }
  });

  test('lasts as long as the settings say', async () => {
    const own = await startTestApp({ settings: { sessionDays: 1 } });
    try {
      const { token } = await addPerson(own);
      own.clock.advance(DAY_MS - MINUTE_MS);
      expect((await own.http.get('/api/auth/me', token)).status).toBe(200);
      own.clock.advance(2 * MINUTE_MS);
      expect((await own.http.get('/api/auth/me', token)).status).toBe(401);
    } finally {
      await own.close();
    }
  });

  test('ends earlier if it is not used, where the settings say so', async () => {
    const own = await startTestApp({ settings: { sessionIdleDays: 2 } });
    try {
      const [used, unused] = [await addPerson(own), await addPerson(own)];
      const hasStatus = (token: string, status: number) => async () =>
        (await own.http.get('/api/auth/me', token)).status === status;
      for (let day = 0; day < 4; day += 1) {
        own.clock.advance(DAY_MS);
        // The use is recorded after the answer.
        const { lastUsedAt: before } = await own.services.db.session.findFirstOrThrow({ where: { userId: used.id } });
        expect(await hasStatus(used.token, 200)()).toBe(true);
        await eventually(async () => {
          const session = await own.services.db.session.findFirstOrThrow({ where: { userId: used.id } });
          return session.lastUsedAt > before;
        });
      }
      expect(await hasStatus(unused.token, 401)()).toBe(true);
      await deleteExpiredSessions(own.services);
      expect(await own.services.db.session.findMany({ select: { userId: true } })).toEqual([{ userId: used.id }]);
    } finally {
      await own.close();
    }
  });

  test('is stored with the hash of its token only', async () => {
    const { token } = await addPerson(app);
    const sessions = await app.services.db.$queryRaw<{ text: string }[]>`select s::text as text from sessions s`;
    expect(JSON.stringify(sessions)).not.toContain(token.slice(4));
    expect(sessions.length).toBeGreaterThan(0);
  });
});

describe('the Authorization header', () => {
  const withHeader = (authorization: string) => app.http.call('GET', '/api/auth/me', { headers: { authorization } });

  test('may have the scheme in upper or lower case', async () => {
    const { token } = await addPerson(app);
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await withHeader(`${scheme} ${token}`)).status).toBe(200);
  });

  test.each([
    ['nothing', () => ''],
    ['only the scheme', () => 'Bearer'],
    ['the scheme and a space', () => 'Bearer '],
    ['two tokens', (token: string) => `Bearer ${token} ${token}`],
    ['text after the token', (token: string) => `Bearer ${token}, Basic x`],
    ['only the token', (token: string) => token],
    ['another scheme', (token: string) => `Basic ${token}`],
    ['the token twice', (token: string) => `Bearer ${token}${token}`],
    ['the last character missing', (token: string) => `Bearer ${token.slice(0, -1)}`],
    ['the token in upper case', (token: string) => `Bearer ${token.toUpperCase()}`],
    ['another last character', (token: string) => `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`],
    ['the token in quotes', (token: string) => `Bearer "${token}"`],
    ['a NUL, percent-encoded', (token: string) => `Bearer ${token}%00`],
    ['non-ASCII', () => 'Bearer l\u00f1s_\u00e4'],
    ['SQL', () => `Bearer lns_' or 1=1 --`],
  ])('with %s is no credential: 401', async (_, header) => {
    const { token } = await addPerson(app);
    const { status, headers, body } = await withHeader(header(token));
    expect([status, headers.get('www-authenticate'), body.message]).toEqual([401, 'Bearer', 'Unauthorized']);
  });

  test('of 64 kB is rejected, and the server keeps working', async () => {
    const authorization = `Bearer ${'A'.repeat(65_536)}`;
    expect((await exchangeRequest(app.url, { target: '/api/auth/me', headers: { authorization } })).status).toBe(431);
    expect((await app.http.get('/health')).status).toBe(200);
  });
});
