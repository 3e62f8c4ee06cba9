/** Linking and unlinking accounts at OpenID providers, and renewing a recent sign-in with them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { tokenFor } from '../support/mail.ts';
import { createBrowser, type Person, startProvider, type TestProvider } from '../support/openid-provider.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person as User } from '../support/world.ts';

const IDENTITIES = '/api/auth/openid/identities';

let app: TestApp;
let a: TestProvider;
let b: TestProvider;
beforeAll(async () => {
  [a, b] = await Promise.all([startProvider('a'), startProvider('b')]);
  app = await startTestApp({ openidProviders: [a.settings, b.settings] });
  for (const provider of [a, b]) provider.open(app.url);
});
afterAll(async () => {
  await app.close();
  await Promise.all([a.close(), b.close()]);
});

let people = 0;
let browser: ReturnType<typeof createBrowser>;
beforeEach(() => {
  browser = createBrowser();
});

/** Somebody new at a provider, who signs in there next. */
function addTo(provider: TestProvider): Person {
  people += 1;
  const person = { sub: `sub-${people}`, email: `grace${people}@example.com`, email_verified: true, name: 'Grace' };
  provider.people.set(person.sub, person);
  provider.signingIn.person = person;
  return person;
}

function start(kind: 'start' | 'link' | 'reauthenticate', { settings }: TestProvider, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return browser.post(`${app.url}/api/auth/openid/${kind}`, { provider: settings.id }, headers);
}

function complete(parameters: Record<string, string>) {
  return browser.post(`${app.url}/api/auth/openid/complete`, parameters);
}

async function go(...call: Parameters<typeof start>) {
  const { status, body } = await start(...call);
  expect(status, JSON.stringify(body)).toBe(200);
  return complete(await browser.open(body.url));
}

async function identitiesOf(token: string) {
  return (await app.http.get(IDENTITIES, token)).body.identities;
}

async function signOutOfProvider(): Promise<void> {
  browser.cookiesOf(a.settings.issuer).clear();
}

/** Makes the sign-in of a session too old. The clock of the service must remain that of the providers. */
async function ageSignIn(token: string): Promise<void> {
  const authenticatedAt = new Date(app.clock.now().getTime() - 61 * 60_000);
  const { count } = await app.services.db.session.updateMany({
    where: { tokenHash: hashToken(token) },
    data: { authenticatedAt },
  });
  expect(count).toBe(1);
}

async function useLink(email: string, kind: 'verify-email' | 'reset-password', fields: object = {}): Promise<void> {
  const token = await tokenFor(app, email, kind);
  expect((await app.http.post(`/api/auth/${kind}`, undefined, { token, ...fields })).status).toBe(200);
}

describe('linking', () => {
  test('lets the user sign in with the provider, whatever its address', async () => {
    const ada = await addPerson(app);
    const person = addTo(a);
    const { status, body, headers } = await go('link', a, ada.token);
    expect([status, body.purpose, body.token, body.user.id]).toEqual([200, 'link', null, ada.id]);
    expect(headers.getSetCookie().join()).not.toContain('session=');
    expect(await identitiesOf(ada.token)).toMatchObject([{ provider: 'a', email: person.email }]);
    const signedIn = await go('start', a);
    expect(signedIn.body.user).toMatchObject({ id: ada.id, email: ada.email });
  });

  test('is in the log of the account, and the user gets a mail', async () => {
    const ada = await addPerson(app);
    addTo(a);
    await go('link', a, ada.token);
    const { db } = app.services;
    const events = await db.accountEvent.findMany({ where: { userId: ada.id, action: 'identity_linked' } });
    expect(events.map(({ details }) => details)).toEqual([{ name: 'Provider a' }]);
    const kind = 'sign-in-methods-changed';
    expect(await db.mailMessage.count({ where: { toAddress: ada.email, kind } })).toBe(1);
  });

  test('twice changes nothing, and several providers can be linked', async () => {
    const ada = await addPerson(app);
    addTo(a);
    for (let times = 0; times < 2; times += 1) expect((await go('link', a, ada.token)).status).toBe(200);
    addTo(b);
    expect((await go('link', b, ada.token)).status).toBe(200);
    expect(await identitiesOf(ada.token)).toMatchObject([{ provider: 'a' }, { provider: 'b' }]);
  });

  test('an account at the provider that another user has is refused', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    addTo(a);
    await go('link', a, ada.token);
    const { status, body } = await go('link', a, bob.token);
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    expect(await identitiesOf(bob.token)).toEqual([]);
  });

  test('is refused after the session has ended', async () => {
    const ada = await addPerson(app);
    addTo(a);
    const { body } = await start('link', a, ada.token);
    const parameters = await browser.open(body.url);
    await app.http.post('/api/auth/logout', ada.token);
    expect((await complete(parameters)).body.code).toBe('SIGN_IN_EXPIRED');
    expect(await app.services.db.openidIdentity.count({ where: { userId: ada.id } })).toBe(0);
  });

  test.each([
    ['ends with a reset of the password', false],
    ['stays after a reset of the password if the user keeps the access', true],
  ])('%s', async (_title, keep_access) => {
    const ada = await addPerson(app);
    await useLink(ada.email, 'verify-email', { password: PASSWORD });
    addTo(a);
    await go('link', a, ada.token);
    await app.http.post('/api/auth/forgot-password', undefined, { email: ada.email });
    await useLink(ada.email, 'reset-password', { password: `${PASSWORD} new`, keep_access });
    expect((await go('start', a)).body.user.id === ada.id).toBe(keep_access);
  });

  test('needs a recent sign-in', async () => {
    const ada = await addPerson(app);
    await ageSignIn(ada.token);
    const { status, body } = await start('link', a, ada.token);
    expect([status, body.code]).toEqual([403, 'REAUTHENTICATION_REQUIRED']);
  });

  test('the 21st account is refused', async () => {
    const ada = await addPerson(app);
    const at = new Date(0);
    await app.services.db.openidIdentity.createMany({
      data: Array.from({ length: 20 }, (_, index) => ({
        userId: ada.id,
        issuer: 'https://old.example.com',
        subject: `${ada.id}-${index}`,
        createdAt: at,
        lastUsedAt: at,
      })),
    });
    addTo(a);
    expect((await go('link', a, ada.token)).body.message).toBe('An account can have at most 20 linked accounts');
  });

  test('exactly one of two users who link the same account at once succeeds', async () => {
    const users = [await addPerson(app), await addPerson(app, 'Bob')];
    addTo(a);
    const returns: { parameters: Record<string, string>; cookie: string }[] = [];
    for (const { token } of users) {
      browser = createBrowser();
      const { body } = await start('link', a, token);
      const parameters = await browser.open(body.url);
      returns.push({ parameters, cookie: `sign_in=${browser.cookiesOf(app.url).get('sign_in')}` });
    }
    const answers = await Promise.all(
      returns.map(({ parameters, cookie }) =>
        app.http.call('POST', '/api/auth/openid/complete', { json: parameters, headers: { cookie } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('unlinking', () => {
  async function link(provider: TestProvider, { token }: Pick<User, 'token'>): Promise<number> {
    addTo(provider);
    await go('link', provider, token);
    const identities = await identitiesOf(token);
    return identities.at(-1).id;
  }

  test('makes the account at the provider that of a new user', async () => {
    const ada = await addPerson(app);
    const id = await link(a, ada);
    expect((await app.http.delete(`${IDENTITIES}/${id}`, ada.token)).body).toEqual({ ok: true });
    expect(await identitiesOf(ada.token)).toEqual([]);
    expect((await go('start', a)).body.user.id).not.toBe(ada.id);
  });

  test('is for the user only, and needs a recent sign-in', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    const id = await link(a, ada);
    const { status, body } = await app.http.delete(`${IDENTITIES}/${id}`, bob.token);
    expect([status, body.message]).toEqual([404, 'Identity not found']);
    await ageSignIn(ada.token);
    expect((await app.http.delete(`${IDENTITIES}/${id}`, ada.token)).body.code).toBe('REAUTHENTICATION_REQUIRED');
  });

  test('the last way to sign in is refused, also if two are removed at once', async () => {
    addTo(a);
    const { token } = (await go('start', a)).body;
    const [first] = await identitiesOf(token);
    const alone = await app.http.delete(`${IDENTITIES}/${first.id}`, token);
    expect([alone.status, alone.body.message]).toEqual([
      409,
      'This is the last sign-in method of the account: add another one first',
    ]);
    const second = await link(b, { token });
    const answers = await Promise.all([first.id, second].map((id) => app.http.delete(`${IDENTITIES}/${id}`, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await identitiesOf(token)).toHaveLength(1);
  });

  test('a provider that is no longer in the settings does not count as a way to sign in', async () => {
    addTo(a);
    const { token, user } = (await go('start', a)).body;
    const at = new Date(0);
    await app.services.db.openidIdentity.create({
      data: { userId: user.id, issuer: 'https://old.example.com', subject: 'x', createdAt: at, lastUsedAt: at },
    });
    const identities = await identitiesOf(token);
    expect(identities.map(({ provider }: { provider: string | null }) => provider).sort()).toEqual(['a', null]);
    const { id } = identities.find(({ provider }: { provider: string | null }) => provider === 'a');
    expect((await app.http.delete(`${IDENTITIES}/${id}`, token)).status).toBe(409);
  });
});

describe('a recent sign-in', () => {
  async function addLinked(): Promise<{ token: string; id: number }> {
    addTo(a);
    const { token, user } = (await go('start', a)).body;
    await ageSignIn(token);
    const id = (await identitiesOf(token))[0].id;
    expect((await app.http.delete(`${IDENTITIES}/${id}`, token)).body.code).toBe('REAUTHENTICATION_REQUIRED');
    return { token, id: user.id };
  }

  test('is renewed with a linked account, for which the person signs in again', async () => {
    const { token } = await addLinked();
    const { body } = await start('reauthenticate', a, token);
    expect(Object.fromEntries(new URL(body.url).searchParams)).toMatchObject({ prompt: 'login', max_age: '0' });
    const completed = await complete(await browser.open(body.url));
    expect(completed.body).toMatchObject({ purpose: 'reauthenticate', token: null });
    const [{ id }] = await identitiesOf(token);
    // The next check is reached: it is the last way to sign in.
    expect((await app.http.delete(`${IDENTITIES}/${id}`, token)).status).toBe(409);
  });

  test('is not renewed with an account at the provider that is not linked', async () => {
    const { token } = await addLinked();
    await signOutOfProvider();
    addTo(a);
    const { status, body } = await go('reauthenticate', a, token);
    expect([status, body.code]).toEqual([401, 'SIGN_IN_REFUSED']);
    const [{ id }] = await identitiesOf(token);
    expect((await app.http.delete(`${IDENTITIES}/${id}`, token)).body.code).toBe('REAUTHENTICATION_REQUIRED');
  });

  test('is not renewed if the person did not sign in again', async () => {
    const { token } = await addLinked();
    // They signed in at the provider five minutes before.
    app.clock.advance(5 * 60_000);
    const { body } = await start('reauthenticate', a, token);
    const url = new URL(body.url);
    url.searchParams.delete('prompt');
    url.searchParams.set('max_age', '1000');
    const completed = await complete(await browser.open(url.href));
    expect([completed.body.code, completed.body.message]).toEqual([
      'SIGN_IN_REFUSED',
      'You did not sign in again at the provider: try another way',
    ]);
  });
});

test('an account without a password cannot set one with a session alone', async () => {
  addTo(a);
  const { token } = (await go('start', a)).body;
  const { status, body } = await app.http.patch('/api/auth/me', token, { password: `${PASSWORD} new` });
  expect([status, body.issues?.[0].path]).toEqual([400, 'password']);
});
