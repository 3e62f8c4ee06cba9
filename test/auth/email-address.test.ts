/** Confirming and changing the address of an account, with the links that are sent by mail. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { mailTo, tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const USELESS = 'This link was already used or has expired: request a new one';

async function isVerified({ client }: Person): Promise<boolean> {
  return (await client.auth.me.query()).user.email_verified;
}

/** Opens a link, signed in as a person. */
function verify(token: string, by: Person) {
  return app.http.post('/api/auth/verify-email', by.token, { token });
}

function change({ token }: Person, email: string) {
  return app.http.post('/api/auth/change-email', token, { email });
}

describe('the address of a new account', () => {
  test('is confirmed by the link that was sent to it, once', async () => {
    const ada = await addPerson(app);
    expect(await isVerified(ada)).toBe(false);
    const token = await tokenFor(app, ada.email, 'verify-email');
    expect(await verify(token, ada)).toMatchObject({ status: 200, body: { email: ada.email } });
    expect(await isVerified(ada)).toBe(true);
    expect(await verify(token, ada)).toMatchObject({
      status: 400,
      body: { message: USELESS, issues: [{ path: 'token' }] },
    });
  });

  test('cannot be confirmed after a day', async () => {
    const ada = await addPerson(app);
    const token = await tokenFor(app, ada.email, 'verify-email');
    app.clock.advance(DAY_MS);
    expect((await verify(token, ada)).status).toBe(400);
  });

  test('gets another link on request, a few times, until it is confirmed', async () => {
    const ada = await addPerson(app);
    const resend = () => app.http.post('/api/auth/verify-email/resend', ada.token);
    for (let sent = 1; sent < 5; sent += 1) expect((await resend()).status).toBe(200);
    const { status, headers } = await resend();
    expect([status, headers.get('retry-after')]).toEqual([429, '3600']);
    await verify(await tokenFor(app, ada.email, 'verify-email'), ada);
    expect((await resend()).status).toBe(409);
  });

  test('has mail without any text that the person chose', async () => {
    const { email } = await addPerson(app, 'Win money at evil.example');
    for (const { text, html, subject } of await mailTo(app, email)) expect(text + html + subject).not.toContain('evil');
  });
});

describe('a new address', () => {
  test('replaces the old one when its link is used, and the old one gets a notice', async () => {
    const ada = await addPerson(app);
    const email = `new-${ada.email}`;
    expect((await change(ada, email)).status).toBe(200);
    expect((await ada.client.auth.me.query()).user.email).toBe(ada.email);
    expect(await verify(await tokenFor(app, email, 'change-email'), ada)).toMatchObject({
      status: 200,
      body: { email },
    });
    expect((await ada.client.auth.me.query()).user).toMatchObject({ email, email_verified: true });
    const notices = await mailTo(app, ada.email);
    expect(notices.at(-1)).toMatchObject({ kind: 'email-changed', text: expect.stringContaining(email) });
    const login = (address: string) =>
      app.http.post('/api/auth/login', undefined, { email: address, password: PASSWORD });
    expect([(await login(ada.email)).status, (await login(email)).status]).toEqual([401, 200]);
  });

  test('ends the links that were sent to the old one', async () => {
    const ada = await addPerson(app);
    const toOld = await tokenFor(app, ada.email, 'verify-email');
    await app.http.post('/api/auth/forgot-password', undefined, { email: ada.email });
    const reset = await tokenFor(app, ada.email, 'reset-password');
    await change(ada, `new-${ada.email}`);
    await verify(await tokenFor(app, `new-${ada.email}`, 'change-email'), ada);
    expect((await verify(toOld, ada)).status).toBe(400);
    const body = { token: reset, password: 'another long password' };
    expect((await app.http.post('/api/auth/reset-password', undefined, body)).status).toBe(400);
  });

  test('that another account has gets the same response, and is refused when the link is used', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    const [taken, free] = [await change(ada, bob.email), await change(ada, `free-${ada.email}`)];
    expect([taken.status, taken.body]).toEqual([free.status, free.body]);
    const token = await tokenFor(app, bob.email, 'change-email');
    expect((await verify(token, ada)).status).toBe(409);
    expect((await ada.client.auth.me.query()).user.email).toBe(ada.email);
  });

  test('is given to one account, if two use their links at once', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    const email = `both-${ada.email}`;
    await change(ada, email);
    const first = await tokenFor(app, email, 'change-email');
    await change(bob, email);
    const second = await tokenFor(app, email, 'change-email');
    const answers = await Promise.all([verify(first, ada), verify(second, bob)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('that others have used up gets mail again after an hour, and nobody is told', async () => {
    const [ada, eve] = [await addPerson(app), await addPerson(app, 'Eve')];
    const email = `wanted-${ada.email}`;
    for (let sent = 0; sent < 5; sent += 1) expect((await change(eve, email)).status).toBe(200);
    expect((await change(eve, email)).status).toBe(429);
    for (let sent = 0; sent < 6; sent += 1) expect((await change(ada, email)).status).toBe(200);
    expect(await mailTo(app, email)).toHaveLength(5);
    app.clock.advance(HOUR_MS);
    await ada.client.auth.reauthenticate.mutate({ password: PASSWORD });
    expect((await change(ada, email)).status).toBe(200);
    expect(await verify(await tokenFor(app, email, 'change-email'), ada)).toMatchObject({
      status: 200,
      body: { email },
    });
    expect((await ada.client.auth.me.query()).user.email).toBe(email);
  });

  test('needs a recent sign-in, and must be another one', async () => {
    const ada = await addPerson(app);
    expect((await change(ada, ada.email)).body).toMatchObject({ issues: [{ path: 'email' }] });
    app.clock.advance(DAY_MS);
    expect(await change(ada, 'x@example.com')).toMatchObject({
      status: 403,
      body: { code: 'REAUTHENTICATION_REQUIRED' },
    });
  });
});

describe('an address that changes just before the account', () => {
  /** Makes a call that waits while the address of a person changes, and mail to the new one is queued. */
  async function callDuringChange(person: Person, email: string, call: () => Promise<unknown>): Promise<void> {
    await changeWhileBlocked(app, `select id from users where id = ${person.id} for update`, call, async (client) => {
      await client.query('update users set email = $1 where id = $2', [email, person.id]);
      await app.http.post('/api/auth/forgot-password', undefined, { email });
    });
  }

  test('gets the notice of a changed password, which ends the links to it', async () => {
    const ada = await addPerson(app);
    const email = `now-${ada.email}`;
    const input = { current_password: PASSWORD, password: 'another long password' };
    await callDuringChange(ada, email, () => ada.client.auth.updateMe.mutate(input));
    const kinds = (await mailTo(app, email)).map(({ kind }) => kind);
    expect(kinds).toEqual(['reset-password', 'password-changed']);
    expect(await app.services.db.accountToken.count({ where: { address: email } })).toBe(0);
  });

  test('leaves no mail and no link if the account is deleted', async () => {
    const ada = await addPerson(app);
    const email = `now-${ada.email}`;
    await callDuringChange(ada, email, () => ada.client.auth.deleteMe.mutate());
    expect(await app.services.db.mailMessage.count({ where: { toAddress: email } })).toBe(0);
    expect(await app.services.db.accountToken.count({ where: { address: email } })).toBe(0);
  });
});

test('no mail to a deleted account is left', async () => {
  const ada = await addPerson(app);
  await ada.client.auth.deleteMe.mutate();
  expect(await app.services.db.mailMessage.count({ where: { toAddress: ada.email } })).toBe(0);
});
