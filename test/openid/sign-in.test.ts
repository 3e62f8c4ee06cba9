/** Signing in with OpenID Connect, at two real providers. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { codeOf, fromBase32, stepAt } from '../../src/auth/totp.ts';
import { callFrom } from '../support/call-from.ts';
import { mailTo, tokenFor } from '../support/mail.ts';
import {
  createBrowser,
  createSigningKey,
  type Person,
  signAgain,
  startProvider,
  type TestProvider,
} from '../support/openid-provider.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD } from '../support/world.ts';

let app: TestApp;
let a: TestProvider;
let b: TestProvider;
/** It sends addresses as `upn`, and is trusted to send only those that belong to the person. */
let trusted: TestProvider;
beforeAll(async () => {
  [a, b, trusted] = await Promise.all([
    startProvider('a'),
    startProvider('b'),
    startProvider('c', { emailClaim: 'upn', trustsEmail: true }),
  ]);
  app = await startTestApp({ openidProviders: [a.settings, b.settings, trusted.settings] });
  for (const provider of [a, b, trusted]) provider.open(app.url);
});
afterAll(async () => {
  await app.close();
  await Promise.all([a.close(), b.close(), trusted.close()]);
});

type Browser = ReturnType<typeof createBrowser>;

let people = 0;
let browser: Browser;
beforeEach(() => {
  browser = createBrowser();
  for (const provider of [a, b]) {
    provider.fail(false);
    provider.change.answer = null;
  }
});

/** Somebody new at a provider, who signs in there next. */
function addTo(provider: TestProvider, claims: Partial<Person> = {}): Person {
  people += 1;
  const person = { sub: `sub-${people}`, email: `grace${people}@example.com`, email_verified: true, name: 'Grace' };
  const added = { ...person, ...claims };
  provider.people.set(added.sub, added);
  provider.signingIn.person = added;
  return added;
}

async function start({ settings }: TestProvider, fields: object = {}): Promise<string> {
  const answer = await browser.post(`${app.url}/api/auth/openid/start`, { provider: settings.id, ...fields });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.url;
}

/** The parameters with which the provider sends the browser back. */
async function goTo(provider: TestProvider, fields?: object): Promise<Record<string, string>> {
  return browser.open(await start(provider, fields));
}

function complete(parameters: Record<string, string>, from = browser) {
  return from.post(`${app.url}/api/auth/openid/complete`, parameters);
}

async function signIn(provider: TestProvider) {
  return complete(await goTo(provider));
}

const expired = 'This sign-in has expired, was already used or was started in another browser: start again';

test('the providers are listed for a sign-in page, without their secrets', async () => {
  const { status, body } = await app.http.get('/api/auth/openid/providers');
  expect(status).toBe(200);
  expect(body).toEqual({
    providers: [
      { id: 'a', name: 'Provider a' },
      { id: 'b', name: 'Provider b' },
      { id: 'c', name: 'Provider c' },
    ],
    registration: 'open',
    registration_domains: [],
    first_account: 1,
  });
});

test('somebody new gets an account without a password, and a session', async () => {
  const person = addTo(a);
  const { status, body, headers } = await complete(await goTo(a, { return_to: '/rooms?tab=1' }));
  expect(status).toBe(200);
  expect(body).toMatchObject({ purpose: 'sign_in', return_to: `${app.url}/rooms?tab=1` });
  expect(body.user).toMatchObject({ name: 'Grace', email: person.email });
  expect(headers.getSetCookie().join()).toContain(`session=${body.token}`);
  expect((await app.http.get('/api/auth/me', body.token)).body.user.id).toBe(body.user.id);
  const { workspaces } = (await app.http.get('/api/workspaces', body.token)).body;
  expect(workspaces).toMatchObject([{ name: 'Personal' }]);
  const { sessions } = (await app.http.get('/api/auth/sessions', body.token)).body;
  expect(sessions).toMatchObject([{ method: 'oidc' }]);
  const { events } = (await app.http.get('/api/auth/log', body.token)).body;
  expect(events).toMatchObject([{ action: 'registered', details: { method: 'oidc' } }]);
  const row = await app.services.db.user.findUniqueOrThrow({ where: { id: body.user.id } });
  expect(row).toMatchObject({ passwordHash: null });
  expect(row.emailVerifiedAt).not.toBeNull();
  const byPassword = { email: person.email, password: PASSWORD };
  expect((await app.http.post('/api/auth/login', undefined, byPassword)).status).toBe(401);
});

test('the same person comes back to the same account, whatever address the provider then gives', async () => {
  const person = addTo(a);
  const first = await signIn(a);
  a.people.set(person.sub, { ...person, email: 'moved@example.com', email_verified: false });
  browser = createBrowser();
  const second = await signIn(a);
  expect(second.body.user.id).toBe(first.body.user.id);
  expect(second.body.user.email).toBe(person.email);
  const { identities } = (await app.http.get('/api/auth/openid/identities', second.body.token)).body;
  expect(identities).toMatchObject([{ provider: 'a', issuer: a.settings.issuer, email: 'moved@example.com' }]);
});

test('a sign-in from a new device causes a notice, and another one from there does not', async () => {
  const { email = '' } = addTo(a);
  await signIn(a);
  const notices = async () => (await mailTo(app, email)).filter(({ kind }) => kind === 'new-sign-in');
  expect(await notices()).toEqual([]);
  const signInElsewhere = async () => {
    const json = await goTo(a);
    const cookie = `sign_in=${browser.cookiesOf(app.url).get('sign_in')}`;
    const call = { method: 'POST', localAddress: '127.0.0.9', headers: { cookie, 'user-agent': 'curl/8' }, json };
    return (await callFrom(`${app.url}/api/auth/openid/complete`, call)).status;
  };
  expect(await signInElsewhere()).toBe(200);
  expect(await notices()).toMatchObject([
    { text: expect.stringContaining('How: another provider\nNetwork address: 127.0.0.9\nProgram: curl\n') },
  ]);
  expect(await signInElsewhere()).toBe(200);
  expect(await notices()).toHaveLength(1);
});

test('an ID token that the key of the provider signs again is accepted', async () => {
  addTo(a);
  a.change.answer = (route, body) => (route === 'token' ? { ...body, id_token: signAgain(body, a.key) } : body);
  expect((await signIn(a)).status).toBe(200);
});

describe('an ID token with an address and its verification', () => {
  const inToken = { email: 'in.token@example.com', email_verified: true };

  /** The provider puts the claims into the ID token, and answers at the userinfo endpoint with nonsense. */
  async function signInBy(claims: object) {
    const { sub, name } = addTo(a);
    a.people.set(sub, { sub, ...(name !== undefined && { name }) });
    const parameters = await goTo(a);
    a.change.answer = (route, body) => {
      if (route === 'token') return { ...body, id_token: signAgain(body, a.key, claims) };
      return route === 'userinfo' ? {} : body;
    };
    return complete(parameters);
  }

  test.each([
    ['needs no userinfo', 'all@example.com', { name: 'Grace' }, 'Grace'],
    ['needs no name', 'nameless@example.com', {}, 'nameless'],
  ])('%s', async (_title, email, claims, name) => {
    const { status, body } = await signInBy({ ...inToken, email, ...claims });
    expect([status, body.user]).toEqual([200, expect.objectContaining({ email, name, email_verified: true })]);
  });

  test.each([{ email: undefined }, { email_verified: undefined }])('does not have %j', async (missing) => {
    expect((await signInBy({ ...inToken, ...missing })).body.code).toBe('SIGN_IN_REFUSED');
    expect(await app.services.db.user.count({ where: { email: inToken.email } })).toBe(0);
  });
});

test('the same subject at another provider is somebody else', async () => {
  const { sub } = addTo(a);
  const first = await signIn(a);
  addTo(b, { sub });
  expect((await signIn(b)).body.user.id).not.toBe(first.body.user.id);
});

test.each(['/@evil.example', '/.evil.example/', '/%5c%5cevil.example', '/?next=//evil.example', '/#//evil.example'])(
  'return_to %s leads to the frontend',
  async (return_to) => {
    addTo(a);
    const { body } = await complete(await goTo(a, { return_to }));
    expect(new URL(body.return_to).origin).toBe(app.url);
  },
);

test('a name that cannot be a name is replaced by the part of the address before the @', async () => {
  addTo(a, { name: '\u202e', email: 'Linus@Example.com' });
  expect((await signIn(a)).body.user).toMatchObject({ name: 'linus', email: 'linus@example.com' });
});

test('an address that the provider has not verified is not verified here', async () => {
  addTo(a, { email_verified: false });
  const { user } = (await signIn(a)).body;
  const row = await app.services.db.user.findUniqueOrThrow({ where: { id: user.id } });
  expect(row.emailVerifiedAt).toBeNull();
});

describe('an account with the address', () => {
  async function verify(email: string): Promise<void> {
    await app.services.db.user.update({ where: { email }, data: { emailVerifiedAt: new Date(0) } });
  }

  async function useLink(email: string, kind: 'verify-email' | 'reset-password', fields: object = {}) {
    const token = await tokenFor(app, email, kind);
    expect((await app.http.post(`/api/auth/${kind}`, undefined, { token, ...fields })).status).toBe(200);
  }

  async function reset(email: string): Promise<void> {
    await app.http.post('/api/auth/forgot-password', undefined, { email });
    await useLink(email, 'reset-password', { password: PASSWORD });
  }

  test('is joined if a reset and the provider have verified the address', async () => {
    const ada = await addPerson(app);
    await reset(ada.email);
    addTo(a, { email: ada.email.toUpperCase() });
    const { status, body } = await signIn(a);
    expect([status, body.user?.id]).toEqual([200, ada.id]);
    const login = { email: ada.email, password: PASSWORD };
    expect((await app.http.post('/api/auth/login', undefined, login)).status).toBe(200);
  });

  test('is joined if another provider created it with the verified address', async () => {
    const { email = '' } = addTo(a);
    const { user } = (await signIn(a)).body;
    addTo(b, { email });
    expect((await signIn(b)).body.user?.id).toBe(user.id);
  });

  test('is joined if the user confirmed the address, which needs the password of the account', async () => {
    const ada = await addPerson(app);
    await useLink(ada.email, 'verify-email', { password: PASSWORD });
    addTo(a, { email: ada.email });
    expect((await signIn(a)).body.user?.id).toBe(ada.id);
  });

  test('is taken over if it is not verified here: a stranger may have registered it', async () => {
    const stranger = await addPerson(app);
    const token = await tokenFor(app, stranger.email, 'verify-email');
    for (const proof of [{}, { password: 'a password of the owner' }])
      expect((await app.http.post('/api/auth/verify-email', undefined, { token, ...proof })).status).toBe(400);
    addTo(a, { email: stranger.email });
    const { status, body } = await signIn(a);
    expect([status, body.user?.id, body.user?.email_verified]).toEqual([200, stranger.id, true]);
    expect((await app.http.get('/api/auth/me', stranger.token)).status).toBe(401);
    const login = { email: stranger.email, password: PASSWORD };
    expect((await app.http.post('/api/auth/login', undefined, login)).status).toBe(401);
  });

  test('is not taken over while it is locked', async () => {
    const stranger = await addPerson(app);
    await app.services.db.user.update({ where: { id: stranger.id }, data: { lockedAt: new Date(0) } });
    addTo(a, { email: stranger.email });
    expect((await signIn(a)).body.code).toBe('SIGN_IN_REFUSED');
    expect(await app.services.db.session.count({ where: { userId: stranger.id } })).toBe(1);
  });

  test('is joined by the address in the claim of a provider that is trusted to verify it', async () => {
    const ada = await addPerson(app);
    await verify(ada.email);
    addTo(trusted, { email: 'other@example.com', email_verified: false, upn: ada.email });
    expect((await signIn(trusted)).body.user?.id).toBe(ada.id);
  });

  test('is not joined by another person at the provider that is linked, to whom the address has passed', async () => {
    const { email = '' } = addTo(a);
    const { user } = (await signIn(a)).body;
    browser = createBrowser();
    addTo(a, { email });
    const { status, body } = await signIn(a);
    expect([status, body.code]).toEqual([409, 'ACCOUNT_NOT_LINKED']);
    expect(await app.services.db.openidIdentity.count({ where: { userId: user.id } })).toBe(1);
  });

  test('is not joined if it has a second factor', async () => {
    const { email } = await addPerson(app);
    await reset(email);
    const { token } = (await app.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).body;
    const { secret } = (await app.http.post('/api/auth/second-factor', token)).body;
    const code = codeOf(fromBase32(secret), stepAt(app.clock.now()));
    expect((await app.http.post('/api/auth/second-factor/confirm', token, { code })).status).toBe(200);
    addTo(a, { email });
    expect((await signIn(a)).body.code).toBe('ACCOUNT_NOT_LINKED');
  });

  test.each([
    ['', true, false],
    [', which sends a text', true, 'true'],
    [', which says nothing', true, undefined],
    [', nor here', false, false],
  ])('is not joined if it is not verified by the provider%s', async (_title, isVerifiedHere, email_verified) => {
    const ada = await addPerson(app);
    if (isVerifiedHere) await verify(ada.email);
    addTo(a, { email: ada.email, email_verified });
    const { status, body } = await signIn(a);
    expect([status, body.code]).toEqual([409, 'ACCOUNT_NOT_LINKED']);
    expect(body.message).toContain('sign in to it in the usual way, and link the provider');
    expect(await app.services.db.openidIdentity.count({ where: { userId: ada.id } })).toBe(0);
  });
});

test('a person without an address at the provider cannot create an account', async () => {
  const { sub } = addTo(a);
  a.people.set(sub, { sub });
  expect((await signIn(a)).body).toMatchObject({
    code: 'SIGN_IN_REFUSED',
    message: 'The provider did not send an email address, which a new account needs',
  });
});

describe('a return is refused', () => {
  test('the second time', async () => {
    addTo(a);
    const parameters = await goTo(a);
    // The cookie is removed with the first return.
    const other = createBrowser();
    for (const [name, value] of browser.cookiesOf(app.url)) other.cookiesOf(app.url).set(name, value);
    expect((await complete(parameters)).status).toBe(200);
    const { status, body } = await complete(parameters, other);
    expect([status, body.code, body.message]).toEqual([401, 'SIGN_IN_EXPIRED', expired]);
  });

  test('in another browser, after which the first one can still complete', async () => {
    addTo(a);
    const parameters = await goTo(a);
    expect((await complete(parameters, createBrowser())).body.code).toBe('SIGN_IN_EXPIRED');
    const other = createBrowser();
    await other.post(`${app.url}/api/auth/openid/start`, { provider: 'a' });
    expect((await complete(parameters, other)).body.code).toBe('SIGN_IN_EXPIRED');
    expect((await complete(parameters)).status).toBe(200);
  });

  test('with a wrong state', async () => {
    addTo(a);
    const parameters = await goTo(a);
    expect((await complete({ ...parameters, state: 'x'.repeat(43) })).body.code).toBe('SIGN_IN_EXPIRED');
  });

  test('after ten minutes', async () => {
    addTo(a);
    const parameters = await goTo(a);
    app.clock.advance(10 * 60_000);
    expect((await complete(parameters)).body.code).toBe('SIGN_IN_EXPIRED');
  });

  test('with a wrong nonce', async () => {
    addTo(a);
    const url = new URL(await start(a));
    url.searchParams.set('nonce', 'of an attacker');
    expect((await complete(await browser.open(url.href))).body.code).toBe('SIGN_IN_REFUSED');
  });

  test('with a code that another request asked for', async () => {
    addTo(a);
    const stolen = await goTo(a);
    const { state } = await goTo(a);
    expect((await complete({ ...stolen, state: state ?? '' })).body.code).toBe('SIGN_IN_REFUSED');
  });

  test.each(['with', 'without'])('with a code of another provider, %s its issuer', async (how) => {
    addTo(a);
    addTo(b);
    const { code = '', iss = '' } = await goTo(b);
    const { state = '' } = await goTo(a);
    const { body } = await complete({ state, code, ...(how === 'with' && { iss }) });
    expect(body.code).toBe('SIGN_IN_REFUSED');
  });

  test.each([
    ['without a signature', null],
    ['that a foreign key has signed', createSigningKey()],
  ])('with an ID token %s', async (_title, key) => {
    const { email = '' } = addTo(a);
    const parameters = await goTo(a);
    a.change.answer = (route, body) => (route === 'token' ? { ...body, id_token: signAgain(body, key) } : body);
    const { status, body } = await complete(parameters);
    expect([status, body.code]).toEqual([401, 'SIGN_IN_REFUSED']);
    expect(await app.services.db.user.count({ where: { email } })).toBe(0);
  });

  test('without a code', async () => {
    const { state = '' } = Object.fromEntries(new URL(await start(a)).searchParams);
    expect((await complete({ state })).body.code).toBe('SIGN_IN_REFUSED');
  });

  test('if the person declines', async () => {
    a.signingIn.person = null;
    const parameters = await goTo(a);
    expect(parameters.error).toBe('access_denied');
    const { status, body } = await complete(parameters);
    expect([status, body.code, body.message]).toEqual([401, 'SIGN_IN_REFUSED', 'You did not sign in at Provider a']);
  });

  test('while the account is locked', async () => {
    addTo(a);
    const { user } = (await signIn(a)).body;
    await app.services.db.user.update({ where: { id: user.id }, data: { lockedAt: new Date(0) } });
    browser = createBrowser();
    const { status, body } = await signIn(a);
    expect([status, body.message]).toEqual([401, 'The account is locked: contact the operator of this service']);
  });

  test('with 503 if the provider is down meanwhile', async () => {
    addTo(a);
    const parameters = await goTo(a);
    a.fail(true);
    const { status, body, headers } = await complete(parameters);
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'PROVIDER_UNAVAILABLE', '10']);
  });
});

describe('races', () => {
  test('exactly one of ten returns with the same state succeeds', async () => {
    addTo(a);
    const parameters = await goTo(a);
    const cookie = `sign_in=${browser.cookiesOf(app.url).get('sign_in')}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        app.http.call('POST', '/api/auth/openid/complete', { json: parameters, headers: { cookie } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
  });

  test('ten first sign-ins of one person create one account', async () => {
    const person = addTo(a);
    const browsers = Array.from({ length: 10 }, createBrowser);
    const returns: Record<string, string>[] = [];
    for (const one of browsers) {
      browser = one;
      returns.push(await goTo(a));
    }
    const answers = await Promise.all(returns.map((parameters, index) => complete(parameters, browsers[index])));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.user?.id}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await app.services.db.openidIdentity.count({ where: { subject: person.sub } })).toBe(1);
    expect(await app.services.db.user.count({ where: { email: person.email ?? '' } })).toBe(1);
  });
});

describe('starting', () => {
  test.each([
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    'rooms',
    '/a b',
    '/a\nb',
    '/\t/evil.example',
  ])('return_to %j is refused', async (return_to) => {
    const { status, body } = await browser.post(`${app.url}/api/auth/openid/start`, { provider: 'a', return_to });
    expect([status, body.issues?.[0].path]).toEqual([400, 'return_to']);
  });

  test('sends PKCE, state and nonce, and sets a cookie that only the server reads', async () => {
    const { body, headers } = await browser.post(`${app.url}/api/auth/openid/start`, { provider: 'b' });
    const url = new URL(body.url);
    expect(url.origin).toBe(b.settings.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid email profile',
      redirect_uri: `${app.url}/sign-in/return`,
      state: expect.stringMatching(/^.{43}$/),
      nonce: expect.stringMatching(/^.{43}$/),
    });
    expect(headers.getSetCookie().join()).toMatch(/^sign_in=[\w-]{32}; .*HttpOnly; SameSite=Lax$/);
  });

  test('stores neither the state nor the token of the browser', async () => {
    const { searchParams } = new URL(await start(a));
    const rows = await app.services.db.openidRequest.findMany();
    const stored = JSON.stringify(rows.map((row) => ({ ...row, stateHash: String(row.stateHash) })));
    expect(stored).not.toContain(searchParams.get('state'));
    expect(stored).not.toContain(browser.cookiesOf(app.url).get('sign_in'));
  });
});

test('a provider that is down is 503, delays nothing else, and works once it is up again', async () => {
  const down = await startProvider('down');
  const other = await startTestApp({ openidProviders: [down.settings] });
  try {
    down.fail(true);
    const path = `${other.url}/api/auth/openid/start`;
    const { status, body } = await browser.post(path, { provider: 'down' });
    expect([status, body.code]).toEqual([503, 'PROVIDER_UNAVAILABLE']);
    expect((await other.http.get('/api/auth/openid/providers')).status).toBe(200);
    down.fail(false);
    down.open(other.url);
    expect((await browser.post(path, { provider: 'down' })).status).toBe(200);
  } finally {
    await other.close();
    await down.close();
  }
});
