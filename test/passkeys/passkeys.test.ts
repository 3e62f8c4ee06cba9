/** Passkeys, with an authenticator in software. `test/consumer` uses a browser. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Authenticator, createAuthenticator, type Overrides } from '../support/authenticator.ts';
import { callFrom } from '../support/call-from.ts';
import { mailTo } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';

const ORIGIN = 'https://app.example.com';
const PATH = '/api/auth/passkeys';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ settings: { appUrl: ORIGIN, trustedOrigins: [ORIGIN] } });
});
afterAll(() => app.close());

const post = (path: string, token?: string, body: object = {}) => app.http.post(PATH + path, token, body);

async function optionsFor(path: string, token?: string) {
  const { status, body } = await post(path, token);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.options;
}

/** Adds a passkey to the account. */
async function addPasskey(person: Person, authenticator = createAuthenticator(ORIGIN), overrides: Overrides = {}) {
  const options = await optionsFor('/options', person.token);
  const response = authenticator.create(options, overrides);
  const { status, body } = await post('', person.token, { name: 'Laptop', response });
  expect(status, JSON.stringify(body)).toBe(200);
  return { authenticator, passkey: body.passkey };
}

async function signIn(authenticator: Authenticator, overrides: Overrides = {}) {
  const options = await optionsFor('/sign-in/options');
  return post('/sign-in', undefined, { response: authenticator.get(options, overrides) });
}

async function listOf({ token }: Person) {
  return (await app.http.get(PATH, token)).body.passkeys;
}

describe.each(['Ed25519', 'ES256'] as const)('a passkey with %s', (algorithm) => {
  test('signs in without an address, and with the token in a cookie too', async () => {
    const ada = await addPerson(app);
    const { authenticator, passkey } = await addPasskey(ada, createAuthenticator(ORIGIN, { algorithm }));
    expect(passkey).toMatchObject({ name: 'Laptop', is_backed_up: 1, last_used_at: null });
    const { status, body, headers } = await signIn(authenticator);
    expect(status).toBe(200);
    expect(body.user).toMatchObject({ id: ada.id, email: ada.email });
    expect(headers.getSetCookie().join()).toContain(`session=${body.token}`);
    expect((await app.http.get('/api/auth/me', body.token)).status).toBe(200);
    expect((await listOf(ada))[0].last_used_at).toEqual(expect.any(Number));
    // Synchronized passkeys do not count, so a second sign-in has the same counter.
    expect((await signIn(authenticator)).status).toBe(200);
  });
});

test('a sign-in from a new device causes a notice, and another one from there does not', async () => {
  const ada = await addPerson(app);
  const { authenticator } = await addPasskey(ada);
  const notices = async () => (await mailTo(app, ada.email)).filter(({ kind }) => kind === 'new-sign-in');
  expect((await signIn(authenticator)).status).toBe(200);
  expect(await notices()).toEqual([]);
  for (let time = 0; time < 2; time += 1) {
    const options = await optionsFor('/sign-in/options');
    const { status } = await callFrom(`${app.url}${PATH}/sign-in`, {
      method: 'POST',
      localAddress: '127.0.0.9',
      headers: { 'user-agent': 'curl/8' },
      json: { response: authenticator.get(options) },
    });
    expect(status).toBe(200);
  }
  const [notice, ...others] = await notices();
  expect(notice?.text).toContain('How: passkey\nNetwork address: 127.0.0.9\nProgram: curl\n');
  expect(others).toEqual([]);
});

test('the options ask for a discoverable passkey with user verification, and do not name the user', async () => {
  const ada = await addPerson(app);
  const { authenticator } = await addPasskey(ada);
  const options = await optionsFor('/options', ada.token);
  expect(options).toMatchObject({
    rp: { id: 'app.example.com', name: 'Lynxroom' },
    user: { name: ada.email, displayName: ada.name },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    excludeCredentials: [{ id: authenticator.credentialId, type: 'public-key', transports: ['internal'] }],
  });
  expect(Buffer.from(options.user.id, 'base64url')).toHaveLength(32);
  expect((await optionsFor('/options', ada.token)).user.id).toBe(options.user.id);
  expect(await optionsFor('/sign-in/options')).toMatchObject({ rpId: 'app.example.com', allowCredentials: [] });
});

describe('adding a passkey is refused', () => {
  test.each<[string, Overrides]>([
    ['for a page of another origin', { origin: 'https://evil.example' }],
    ['for another domain', { rpId: 'evil.example' }],
    ['without user verification', { isUserVerified: false }],
    ['with the response of a sign-in', { type: 'webauthn.get' }],
    [
      'with certificates, whose URLs the service would fetch',
      { attestation: { fmt: 'apple', attStmt: [['x5c', [[0, new Uint8Array(8)]]]] } },
    ],
    ['with a wrong attestation of its own', { attestation: { fmt: 'packed', attStmt: [['alg', -8]] } }],
  ])('%s', async (_title, overrides) => {
    const ada = await addPerson(app);
    const options = await optionsFor('/options', ada.token);
    const response = createAuthenticator(ORIGIN).create(options, overrides);
    const { status, body } = await post('', ada.token, { response });
    expect([status, body.message]).toEqual([400, 'response is not a valid passkey for this service']);
    expect(await listOf(ada)).toEqual([]);
  });

  test('with a challenge that was used, has expired, or is of another session or of a sign-in', async () => {
    const ada = await addPerson(app);
    const { body } = await app.http.post('/api/auth/login', undefined, { email: ada.email, password: PASSWORD });
    const add = (token: string, response: object) => post('', token, { response });
    const options = await optionsFor('/options', ada.token);
    const response = createAuthenticator(ORIGIN).create(options);
    expect((await add(body.token, response)).body.code).toBe('SIGN_IN_EXPIRED');
    expect((await add(ada.token, response)).status).toBe(200);
    expect((await add(ada.token, response)).body.code).toBe('SIGN_IN_EXPIRED');
    const { challenge } = await optionsFor('/sign-in/options');
    const ofSignIn = createAuthenticator(ORIGIN).create({ ...options, challenge });
    expect((await add(ada.token, ofSignIn)).body.code).toBe('SIGN_IN_EXPIRED');
    const late = createAuthenticator(ORIGIN).create(await optionsFor('/options', ada.token));
    app.clock.advance(5 * 60_000);
    expect((await add(ada.token, late)).body.code).toBe('SIGN_IN_EXPIRED');
  });

  test('if the passkey is already registered, by anyone', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    const { authenticator } = await addPasskey(ada);
    const response = authenticator.create(await optionsFor('/options', bob.token));
    const { status, body } = await post('', bob.token, { response });
    expect([status, body.message]).toEqual([409, 'This passkey is already registered']);
  });

  test('beyond 20, also if many are added at once', async () => {
    const ada = await addPerson(app);
    const started = await Promise.all(Array.from({ length: 25 }, () => optionsFor('/options', ada.token)));
    const answers = await Promise.all(
      started.map((options) => post('', ada.token, { response: createAuthenticator(ORIGIN).create(options) })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(await listOf(ada)).toHaveLength(20);
    expect((await post('/options', ada.token)).status).toBe(409);
  });

  test('without a recent sign-in', async () => {
    const ada = await addPerson(app);
    app.clock.advance(61 * 60_000);
    expect((await post('/options', ada.token)).body.code).toBe('REAUTHENTICATION_REQUIRED');
  });
});

describe('signing in is refused', () => {
  test.each<[string, Overrides]>([
    ['for a page of another origin', { origin: 'https://evil.example' }],
    ['for another domain', { rpId: 'evil.example' }],
    ['without user verification', { isUserVerified: false }],
    ['with the response of a registration', { type: 'webauthn.create' }],
    ['for the handle of another user', { userHandle: 'AAAA' }],
  ])('%s', async (_title, overrides) => {
    const { authenticator } = await addPasskey(await addPerson(app));
    const { status, body } = await signIn(authenticator, overrides);
    expect([status, body.code]).toEqual([401, 'SIGN_IN_REFUSED']);
  });

  test('with an unknown passkey, a wrong signature, and one that was removed, with the same error', async () => {
    const ada = await addPerson(app);
    const { authenticator, passkey } = await addPasskey(ada);
    const unknown = await signIn(createAuthenticator(ORIGIN));
    const options = await optionsFor('/sign-in/options');
    const forged = { ...createAuthenticator(ORIGIN).get(options), id: authenticator.credentialId };
    const wrong = await post('/sign-in', undefined, { response: { ...forged, rawId: authenticator.credentialId } });
    await app.http.delete(`${PATH}/${passkey.id}`, ada.token);
    const removed = await signIn(authenticator);
    for (const { status, body } of [unknown, wrong, removed])
      expect([status, body.code, body.message]).toEqual([401, 'SIGN_IN_REFUSED', 'The passkey was not accepted']);
  });

  test('with a response that was sent before, and only one of ten at once succeeds', async () => {
    const { authenticator } = await addPasskey(await addPerson(app));
    const response = authenticator.get(await optionsFor('/sign-in/options'));
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('/sign-in', undefined, { response })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
    expect((await post('/sign-in', undefined, { response })).body.code).toBe('SIGN_IN_EXPIRED');
  });

  test('with a challenge of a registration', async () => {
    const ada = await addPerson(app);
    const { authenticator } = await addPasskey(ada);
    const { challenge } = await optionsFor('/options', ada.token);
    const response = authenticator.get({ challenge, rpId: 'app.example.com' });
    expect((await post('/sign-in', undefined, { response })).body.code).toBe('SIGN_IN_EXPIRED');
  });

  test('if the counter does not grow, as that of a copied authenticator', async () => {
    const { authenticator } = await addPasskey(await addPerson(app), createAuthenticator(ORIGIN, { hasCounter: true }));
    expect((await signIn(authenticator, { counter: 5 })).status).toBe(200);
    for (const counter of [5, 4, 0])
      expect((await signIn(authenticator, { counter })).body.code).toBe('SIGN_IN_REFUSED');
    expect((await signIn(authenticator, { counter: 6 })).status).toBe(200);
  });

  test('if two responses with the same counter arrive at once', async () => {
    const { authenticator } = await addPasskey(await addPerson(app), createAuthenticator(ORIGIN, { hasCounter: true }));
    const responses = await Promise.all(
      Array.from({ length: 6 }, async () => authenticator.get(await optionsFor('/sign-in/options'), { counter: 9 })),
    );
    const answers = await Promise.all(responses.map((response) => post('/sign-in', undefined, { response })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(401)]);
  });

  test('while the account is locked', async () => {
    const ada = await addPerson(app);
    const { authenticator } = await addPasskey(ada);
    await app.services.db.user.update({ where: { id: ada.id }, data: { lockedAt: new Date(0) } });
    expect((await signIn(authenticator)).body.message).toBe(
      'The account is locked: contact the operator of this service',
    );
  });

  test.each([
    ['a text', 'x'],
    ['client data that is no JSON', { clientDataJSON: 'AAAA', authenticatorData: '', signature: '' }],
    ['a null', null],
  ])('with %s', async (_title, response) => {
    const asserted = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response };
    expect([400, 401]).toContain((await post('/sign-in', undefined, { response: asserted })).status);
  });
});

describe('a recent sign-in', () => {
  test('is renewed with a passkey of the user', async () => {
    const ada = await addPerson(app);
    const { authenticator } = await addPasskey(ada);
    app.clock.advance(61 * 60_000);
    expect((await post('/options', ada.token)).body.code).toBe('REAUTHENTICATION_REQUIRED');
    const options = await optionsFor('/reauthenticate/options', ada.token);
    expect(options.allowCredentials).toMatchObject([{ id: authenticator.credentialId }]);
    const response = authenticator.get(options);
    expect((await post('/reauthenticate', ada.token, { response })).body).toEqual({ ok: true });
    expect((await post('/reauthenticate', ada.token, { response })).body.code).toBe('SIGN_IN_EXPIRED');
    expect((await post('/options', ada.token)).status).toBe(200);
  });

  test('is not renewed with a passkey of another user, or the challenge of another session', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    const { authenticator } = await addPasskey(ada);
    const { authenticator: ofBob } = await addPasskey(bob);
    const response = ofBob.get(await optionsFor('/reauthenticate/options', ada.token));
    expect((await post('/reauthenticate', ada.token, { response })).body.code).toBe('SIGN_IN_REFUSED');
    const ofAda = authenticator.get(await optionsFor('/reauthenticate/options', bob.token));
    expect((await post('/reauthenticate', ada.token, { response: ofAda })).body.code).toBe('SIGN_IN_EXPIRED');
  });

  test('cannot be renewed without a passkey', async () => {
    const ada = await addPerson(app);
    expect((await post('/reauthenticate/options', ada.token)).body.code).toBe('SIGN_IN_REFUSED');
  });
});

describe('the passkeys of a user', () => {
  test('are listed and renamed, by the user only', async () => {
    const [ada, bob] = [await addPerson(app), await addPerson(app, 'Bob')];
    const { passkey } = await addPasskey(ada);
    const renamed = await app.http.patch(`${PATH}/${passkey.id}`, ada.token, { name: ' Phone ' });
    expect(renamed.body.passkey).toEqual({ ...passkey, name: 'Phone' });
    expect(await listOf(ada)).toEqual([{ ...passkey, name: 'Phone' }]);
    expect(await listOf(bob)).toEqual([]);
    for (const answer of [
      await app.http.patch(`${PATH}/${passkey.id}`, bob.token, { name: 'Mine' }),
      await app.http.delete(`${PATH}/${passkey.id}`, bob.token),
    ])
      expect([answer.status, answer.body.message]).toEqual([404, 'Passkey not found']);
  });

  test('are in the log of the account when they are added and removed, and the user gets a mail', async () => {
    const ada = await addPerson(app);
    const { passkey } = await addPasskey(ada);
    await app.http.delete(`${PATH}/${passkey.id}`, ada.token);
    const { db } = app.services;
    const events = await db.accountEvent.findMany({ where: { userId: ada.id, action: { startsWith: 'passkey' } } });
    expect(events.map(({ action, details }) => [action, details])).toEqual([
      ['passkey_added', { name: 'Laptop' }],
      ['passkey_removed', { name: 'Laptop' }],
    ]);
    const kind = 'sign-in-methods-changed';
    expect(await db.mailMessage.count({ where: { toAddress: ada.email, kind } })).toBe(2);
  });

  test('cannot all be removed from an account without a password, not even at once', async () => {
    const ada = await addPerson(app);
    const added = [await addPasskey(ada), await addPasskey(ada), await addPasskey(ada)];
    await app.services.db.user.update({ where: { id: ada.id }, data: { passwordHash: null } });
    const answers = await Promise.all(added.map(({ passkey }) => app.http.delete(`${PATH}/${passkey.id}`, ada.token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409]);
    const { body } = answers.find(({ status }) => status === 409) ?? {};
    expect(body.message).toBe('This is the last sign-in method of the account: add another one first');
    expect(await listOf(ada)).toHaveLength(1);
  });

  test('are removed only with a recent sign-in', async () => {
    const ada = await addPerson(app);
    const { passkey } = await addPasskey(ada);
    app.clock.advance(61 * 60_000);
    const { body } = await app.http.delete(`${PATH}/${passkey.id}`, ada.token);
    expect(body.code).toBe('REAUTHENTICATION_REQUIRED');
  });
});

test('a service that is reached by an IP address says that it needs a name', async () => {
  const other = await startTestApp();
  try {
    const { status, body } = await other.http.post(`${PATH}/sign-in/options`);
    expect([status, body.message]).toEqual([
      409,
      'Passkeys need a host name instead of 127.0.0.1: open the page at localhost, or set PUBLIC_URL',
    ]);
  } finally {
    await other.close();
  }
});
