/** Setting a new password with a link. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { lockAccount } from '../../src/features/auth/operator.ts';
import { sendDueMail } from '../../src/mail/mailer.ts';
import { mailTo, tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const NEW_PASSWORD = 'an entirely new password';

function forgot(email: string) {
  return app.http.post('/api/auth/forgot-password', undefined, { email });
}

function reset(token: string, password = NEW_PASSWORD) {
  return app.http.post('/api/auth/reset-password', undefined, { token, password });
}

async function statusOfLogin({ email }: Person, password: string): Promise<number> {
  return (await app.http.post('/api/auth/login', undefined, { email, password })).status;
}

async function linkFor({ email }: Person): Promise<string> {
  await forgot(email);
  return tokenFor(app, email, 'reset-password');
}

test('a link sets a new password once, ends all sessions, and the account gets a notice', async () => {
  const ada = await addPerson(app);
  const token = await linkFor(ada);
  expect((await reset(token)).status).toBe(200);
  expect([await statusOfLogin(ada, PASSWORD), await statusOfLogin(ada, NEW_PASSWORD)]).toEqual([401, 200]);
  expect((await app.http.get('/api/auth/me', ada.token)).status).toBe(401);
  expect((await reset(token, 'yet another password')).status).toBe(400);
  const kinds = (await mailTo(app, ada.email)).map(({ kind }) => kind);
  // The devices of somebody who may have registered the address are no longer known.
  expect(kinds.slice(-2)).toEqual(['password-changed', 'new-sign-in']);
  const { token: session } = (
    await app.http.post('/api/auth/login', undefined, { email: ada.email, password: NEW_PASSWORD })
  ).body;
  expect((await app.http.get('/api/auth/me', session)).body.user.email_verified).toBe(true);
});

test('a link works once, however many use it at the same time', async () => {
  const token = await linkFor(await addPerson(app));
  const answers = await Promise.all([1, 2, 3].map((number) => reset(token, `${NEW_PASSWORD} ${number}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
});

describe('a link no longer works', () => {
  test('after an hour', async () => {
    const token = await linkFor(await addPerson(app));
    app.clock.advance(HOUR_MS);
    expect((await reset(token)).status).toBe(400);
  });

  test('after another one was used, or the password changed', async () => {
    const ada = await addPerson(app);
    const first = await linkFor(ada);
    expect((await reset(await linkFor(ada))).status).toBe(200);
    expect((await reset(first)).status).toBe(400);

    const bob = await addPerson(app, 'Bob');
    const token = await linkFor(bob);
    await bob.client.auth.updateMe.mutate({ password: 'my own new password', current_password: PASSWORD });
    expect((await reset(token)).status).toBe(400);
    expect((await mailTo(app, bob.email)).at(-1)?.kind).toBe('password-changed');
  });

  test('after the account was locked or deleted', async () => {
    const ada = await addPerson(app);
    const token = await linkFor(ada);
    await lockAccount(app.services, ada.email);
    expect((await reset(token)).status).toBe(400);
    expect((await reset(await linkFor(ada))).status).toBe(400);

    const bob = await addPerson(app, 'Bob');
    const another = await linkFor(bob);
    await bob.client.auth.deleteMe.mutate();
    expect((await reset(another)).status).toBe(400);
  });
});

describe('asking for a link', () => {
  test('answers and writes the same for an address without an account, which gets no mail', async () => {
    const ada = await addPerson(app);
    const nobody = 'nobody@example.com';
    const [known, unknown] = [await forgot(ada.email), await forgot(nobody)];
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    const { db } = app.services;
    const written = async (address: string) => [
      await db.accountToken.count({ where: { address, purpose: 'reset_password' } }),
      await db.mailMessage.count({ where: { toAddress: address, kind: 'reset-password' } }),
    ];
    expect(await written(nobody)).toEqual(await written(ada.email));
    const token = await tokenFor(app, nobody, 'reset-password');
    expect((await reset(token)).status).toBe(400);
    while ((await sendDueMail({ services: app.services, transport: null, source: { baseUrl: '', address: '' } })) > 0);
    expect((await db.mailMessage.findFirstOrThrow({ where: { toAddress: nobody } })).state).toBe('dropped');
  });

  test('sends at most five links to an address in an hour, and answers the same', async () => {
    const ada = await addPerson(app);
    for (let asked = 0; asked < 7; asked += 1) expect((await forgot(ada.email)).status).toBe(200);
    const links = (await mailTo(app, ada.email)).filter(({ kind }) => kind === 'reset-password');
    expect(links).toHaveLength(5);
    expect((await reset(await tokenFor(app, ada.email, 'reset-password'))).status).toBe(200);
  });

  test('is limited by network, with 429', async () => {
    const limited = await startTestApp({ limits: { signInPerAddress: 3 } });
    const statuses: number[] = [];
    for (let asked = 0; asked < 4; asked += 1) {
      const body = { email: `person${asked}@example.com` };
      statuses.push((await limited.http.post('/api/auth/forgot-password', undefined, body)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    await limited.close();
  });
});

test('links never begin with the host name that the request chose', async () => {
  const ada = await addPerson(app);
  const headers = { 'x-forwarded-host': 'evil.example', host: 'evil.example' };
  await app.http.call('POST', '/api/auth/forgot-password', { json: { email: ada.email }, headers });
  const [row] = await app.services.db.mailMessage.findMany({ where: { toAddress: ada.email, kind: 'reset-password' } });
  if (!row) throw new Error('No message was queued');
  const message = (await mailTo(app, ada.email)).find(({ kind }) => kind === 'reset-password');
  expect(message?.text).not.toContain('evil');
});
