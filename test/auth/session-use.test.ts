/** What a session records: how and from where it was started, and when and from where it was last used. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { callFrom } from '../support/call-from.ts';
import { concurrently } from '../support/concurrently.ts';
import { eventually } from '../support/eventually.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD } from '../support/world.ts';

const MINUTE_MS = 60_000;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-03-01T12:00:00Z') });
});
afterAll(() => app.close());

function findSession(token: string) {
  return app.services.db.session.findUnique({ where: { tokenHash: hashToken(token) } });
}

test('a session records how it was started, when, and from where', async () => {
  const { email, token } = await addPerson(app);
  const now = app.clock.now();
  expect(await findSession(token)).toMatchObject({
    method: 'registration',
    createdAt: now,
    authenticatedAt: now,
    lastUsedAt: now,
    address: '127.0.0.1',
  });
  const { body } = await callFrom(`${app.url}/api/auth/login`, {
    method: 'POST',
    localAddress: '127.0.0.7',
    headers: { 'user-agent': `Browser ${'x'.repeat(1000)}` },
    json: { email, password: PASSWORD },
  });
  // biome-ignore lint/suspicious/noExplicitAny: the answer to a sign-in
  expect(await findSession((body as any).token)).toMatchObject({
    method: 'password',
    address: '127.0.0.7',
    userAgent: `Browser ${'x'.repeat(292)}`,
  });
});

test('the last use and its address are recorded every five minutes', async () => {
  const { token } = await addPerson(app);
  const start = app.clock.now();
  const use = () =>
    callFrom(`${app.url}/api/auth/me`, { localAddress: '127.0.0.8', headers: { authorization: `Bearer ${token}` } });
  app.clock.advance(5 * MINUTE_MS - 1);
  await use();
  expect(await findSession(token)).toMatchObject({ lastUsedAt: start, address: '127.0.0.1' });
  app.clock.advance(1);
  await concurrently(5, use);
  const used = await eventually(async () => {
    const session = await findSession(token);
    return session?.address === '127.0.0.8' && session;
  });
  expect(used.lastUsedAt).toEqual(app.clock.now());
});

test('a request does not wait until its use is recorded, and the session may end meanwhile', async () => {
  const { id, token } = await addPerson(app);
  app.clock.advance(10 * MINUTE_MS);
  const lines = app.logLines.length;
  await changeWhileBlocked(
    app,
    `select id from sessions where user_id = ${id} for update`,
    async () => expect((await app.http.get('/api/auth/me', token)).status).toBe(200),
    (client) => client.query('delete from sessions where user_id = $1', [id]),
  );
  expect((await app.http.get('/api/auth/me', token)).status).toBe(401);
  expect(app.logLines.slice(lines).filter(({ level }) => Number(level) >= 40)).toEqual([]);
});
