/** What needs a recent sign-in, and confirming the password in a session, through both transports. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Input, transports } from '../contract/transports.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD } from '../support/world.ts';

const MINUTE_MS = 60_000;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const required = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };

describe.each(transports)('over %s', (_, transport) => {
  const call = (name: string, token: string, input: Input) => transport(app, { name, token, input });

  test.each(['auth.deleteMe', 'apiKeys.create', 'apiKeys.rotate', 'members.changeRole'])(
    '%s needs a sign-in of the last hour',
    async (name) => {
      const { id, owner, admin } = await addTeam(app);
      const key = { name: 'Nightly', belongs_to: 'workspace' };
      const { apiKey } = (await app.http.post(`/api/workspaces/${id}/api-keys`, owner.token, key)).body;
      const inputs: Record<string, [token: string, input: Input]> = {
        'auth.deleteMe': [admin.token, {}],
        'apiKeys.create': [admin.token, { id, name: 'Import' }],
        'apiKeys.rotate': [admin.token, { id, keyId: apiKey.id }],
        'members.changeRole': [owner.token, { id, userId: admin.id, role: 'owner' }],
      };
      const [token, input] = inputs[name] ?? ['', {}];
      app.clock.advance(61 * MINUTE_MS);
      expect(await call(name, token, input)).toMatchObject(required);
      expect((await call('auth.reauthenticate', token, { password: PASSWORD })).status).toBe(200);
      app.clock.advance(59 * MINUTE_MS);
      expect((await call(name, token, input)).status).toBe(200);
    },
  );

  test('an idempotency key does not get the stored answer without one', async () => {
    const { id, owner } = await addTeam(app);
    const headers = { 'idempotency-key': `recent-sign-in-of-${id}` };
    const create = () =>
      transport(app, { name: 'apiKeys.create', token: owner.token, input: { id, name: 'Import' }, headers });
    const first = await create();
    expect(first.status).toBe(200);
    expect(await create()).toEqual(first);
    app.clock.advance(61 * MINUTE_MS);
    expect(await create()).toMatchObject(required);
  });

  test('an owner gives other roles without one', async () => {
    const { id, owner, member } = await addTeam(app);
    app.clock.advance(61 * MINUTE_MS);
    expect((await call('members.changeRole', owner.token, { id, userId: member.id, role: 'admin' })).status).toBe(200);
  });

  test('a wrong password does not count, nor does a right one in another session', async () => {
    const { email, token } = await addPerson(app);
    app.clock.advance(61 * MINUTE_MS);
    const wrong = await call('auth.reauthenticate', token, { password: 'a guess' });
    expect(wrong).toMatchObject({ status: 400, body: { message: 'password is wrong' } });
    expect((await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).status).toBe(200);
    expect(await call('auth.deleteMe', token, {})).toMatchObject(required);
  });

  test('guessing the password in a stolen session is limited, together with changing it', async () => {
    const own = await startTestApp({ limits: { signInPerEmail: 3 } });
    try {
      const { email, token } = await addPerson(own);
      const stolen = (await own.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).body.token;
      const guess = async (name: string, session: string, input: Input) =>
        (await transport(own, { name, token: session, input })).status;
      const change = { password: 'another password', current_password: 'a guess' };
      expect(await guess('auth.reauthenticate', stolen, { password: 'a guess' })).toBe(400);
      expect(await guess('auth.updateMe', stolen, change)).toBe(400);
      expect(await guess('auth.reauthenticate', stolen, { password: 'a guess' })).toBe(400);
      expect(await guess('auth.reauthenticate', stolen, { password: PASSWORD })).toBe(429);
      expect(await guess('auth.updateMe', stolen, change)).toBe(429);
      expect(await guess('auth.reauthenticate', token, { password: PASSWORD })).toBe(200);
    } finally {
      await own.close();
    }
  });

  test('with the setting 0, every sign-in is recent', async () => {
    const own = await startTestApp({ settings: { reauthenticationMinutes: 0 } });
    try {
      const { token } = await addPerson(own);
      own.clock.advance(100 * MINUTE_MS);
      expect((await transport(own, { name: 'auth.deleteMe', token, input: {} })).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});

test('a session that ends while its password is verified is not renewed', async () => {
  const { email, token } = await addPerson(app);
  const { passwords } = app.services;
  const own = await startTestApp({
    sharedDatabase: app,
    passwords: {
      ...passwords,
      async isCorrect(...args) {
        const isCorrect = await passwords.isCorrect(...args);
        await app.http.post('/api/auth/logout', token);
        return isCorrect;
      },
    },
  });
  try {
    expect((await own.http.post('/api/auth/reauthenticate', token, { password: PASSWORD })).status).toBe(401);
    expect((await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).status).toBe(200);
  } finally {
    await own.close();
  }
});
