/** Who may confirm an address: a stranger may have registered it, so the link alone does not do. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { transports } from '../contract/transports.ts';
import { eventually } from '../support/eventually.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';

let app: TestApp;
let ada: Person;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  ada = await addPerson(app);
  token = await tokenFor(app, ada.email, 'verify-email');
});

/** The response to a wrong field. */
function refusedBecauseOf(path: string, message?: string) {
  return { status: 400, body: { ...(message && { message }), issues: [{ path }] } };
}

async function isVerified({ client }: Person): Promise<boolean> {
  return (await client.auth.me.query()).user.email_verified;
}

describe.each(transports)('the link to confirm an address, over %s', (_, transport) => {
  const verify = (input: object, session?: string) =>
    transport(app, { name: 'emails.verify', token: session, input: { token, ...input } });

  test('works with a session of the account', async () => {
    expect((await verify({}, ada.token)).status).toBe(200);
    expect(await isVerified(ada)).toBe(true);
  });

  test('works with the password of the account, also in a session of another one', async () => {
    const bob = await addPerson(app, 'Bob');
    expect(await verify({}, bob.token)).toMatchObject(refusedBecauseOf('password'));
    expect((await verify({ password: PASSWORD }, bob.token)).status).toBe(200);
    expect([await isVerified(ada), await isVerified(bob)]).toEqual([true, false]);
  });

  test.each([
    ['neither', {}, 'password is required: enter the password of the account, or sign in to it first'],
    ['a wrong password', { password: 'a guess' }, 'password is wrong'],
  ])('with %s confirms nothing, and can still be used', async (_title, input, message) => {
    expect(await verify(input)).toMatchObject(refusedBecauseOf('password', message));
    expect(await isVerified(ada)).toBe(false);
    expect((await verify({ password: PASSWORD })).status).toBe(200);
  });

  test('does not work with an API key of the account', async () => {
    const [workspace] = (await ada.client.workspaces.list.query()).workspaces;
    const { apiKey } = await ada.client.apiKeys.create.mutate({ id: workspace?.id ?? 0, name: 'Key' });
    expect((await verify({ password: PASSWORD }, apiKey.full_key)).status).toBe(403);
  });

  test('says what to do if the account has no password', async () => {
    await app.services.db.user.update({ where: { id: ada.id }, data: { passwordHash: null } });
    const message = 'The account has no password: sign in to it, and then open the link again';
    expect(await verify({ password: PASSWORD })).toMatchObject(refusedBecauseOf('password', message));
    expect((await verify({}, ada.token)).status).toBe(200);
  });

  test('does not work for a locked account', async () => {
    await app.services.db.user.update({ where: { id: ada.id }, data: { lockedAt: new Date(0) } });
    expect(await verify({ password: PASSWORD })).toMatchObject(refusedBecauseOf('token'));
  });
});

test('a link to a new address needs a proof too: its reader may be a stranger', async () => {
  const email = `new-${ada.email}`;
  await ada.client.auth.reauthenticate.mutate({ password: PASSWORD });
  await app.http.post('/api/auth/change-email', ada.token, { email });
  const link = { token: await tokenFor(app, email, 'change-email') };
  expect((await app.http.post('/api/auth/verify-email', undefined, link)).body.issues[0].path).toBe('password');
  expect((await ada.client.auth.me.query()).user.email).toBe(ada.email);
  const proof = { ...link, password: PASSWORD };
  expect((await app.http.post('/api/auth/verify-email', undefined, proof)).body).toEqual({ email });
});

test('a password that changes meanwhile proves nothing', async () => {
  const call = () => app.http.post('/api/auth/verify-email', undefined, { token, password: PASSWORD });
  const lock = `select id from users where id = ${ada.id} for update`;
  const answer = await changeWhileBlocked(app, lock, call, async (client) => {
    await client.query("update users set password_hash = 'x' where id = $1", [ada.id]);
  });
  expect(answer).toMatchObject(refusedBecauseOf('token'));
  expect(await isVerified(ada)).toBe(false);
});

test('of many uses at once, one succeeds', async () => {
  const uses = Array.from({ length: 5 }, () => app.http.post('/api/auth/verify-email', ada.token, { token }));
  const statuses = (await Promise.all(uses)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 400, 400, 400, 400]);
});

test('guesses are counted with those of signing in, and are in the log of the account', async () => {
  const own = await startTestApp({ limits: { signInPerEmail: 3 } });
  try {
    const person = await addPerson(own);
    const link = { token: await tokenFor(own, person.email, 'verify-email') };
    const guess = (password: string) => own.http.post('/api/auth/verify-email', undefined, { ...link, password });
    const login = { email: person.email, password: 'a guess' };
    expect((await own.http.post('/api/auth/login', undefined, login)).status).toBe(401);
    for (const status of [400, 400, 429]) expect((await guess('a guess')).status).toBe(status);
    expect((await guess(PASSWORD)).status).toBe(429);
    expect((await own.http.post('/api/auth/verify-email', person.token, link)).status).toBe(200);
    await eventually(async () => {
      const { events } = (await own.http.get('/api/auth/log', person.token)).body;
      return events.some((event: { action: string; count: number }) => {
        return event.action === 'sign_in_failed' && event.count === 3;
      });
    });
  } finally {
    await own.close();
  }
});
