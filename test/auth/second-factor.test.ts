/** Signing in with an authenticator app or a recovery code, and setting that up, through both transports. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codeOf, fromBase32, stepAt } from '../../src/auth/totp.ts';
import { removeSecondFactorOf } from '../../src/features/auth/operator.ts';
import { type Input, transports } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-03-01T12:00:00Z') });
});
afterEach(() => app.close());

type Protected = Person & { secret: string; recoveryCodes: string[] };

/** The code that the app shows now, or `steps` later. */
function codeNow(secret: string, steps = 0): string {
  return codeOf(fromBase32(secret), stepAt(app.clock.now()) + steps);
}

/** Registers a user with a second factor. The code of the current step is used by that. */
async function addProtected(): Promise<Protected> {
  const person = await addPerson(app);
  const { secret } = (await app.http.post('/api/auth/second-factor', person.token)).body;
  const code = codeNow(secret);
  const { body } = await app.http.post('/api/auth/second-factor/confirm', person.token, { code });
  return { ...person, secret, recoveryCodes: body.recovery_codes };
}

function login(email: string, code?: string, password = PASSWORD): Promise<Answer> {
  return app.http.post('/api/auth/login', undefined, { email, password, ...(code !== undefined && { code }) });
}

/** A code that is not valid now. */
function wrongCode(secret: string): string {
  const valid = [-1, 0, 1].map((step) => codeNow(secret, step));
  return ['000000', '111111', '222222', '333333'].find((code) => !valid.includes(code)) ?? '';
}

const required = { status: 401, challenge: 'Bearer', body: { code: 'SECOND_FACTOR_REQUIRED' } };
const wrong = { status: 401, challenge: 'Bearer', body: { code: 'SECOND_FACTOR_WRONG' } };

test('a wrong code stands in the log of the account, a missing one does not', async () => {
  const { email, token, secret } = await addProtected();
  const readFailures = async () => {
    const { body } = await app.http.get('/api/auth/log', token);
    return body.events.filter(({ action }: { action: string }) => action === 'sign_in_failed');
  };
  await login(email);
  await login(email, wrongCode(secret));
  expect(await readFailures()).toMatchObject([{ count: 1, details: { method: 'totp' } }]);
  await login(email, 'AAAA-AAAA-AAAA-AAAA');
  expect(await readFailures()).toMatchObject([{ count: 2, details: { method: 'recovery_code' } }]);
});

describe.each(transports)('over %s', (_, transport) => {
  const call = async (name: string, token: string | undefined, input: Input = {}) =>
    // biome-ignore lint/suspicious/noExplicitAny: bodies have any shape
    (await transport(app, { name, token, input })) as { status: number; body: any };

  test('it is set up, confirmed by a first code, needed to sign in, and switched off', async () => {
    const { token, email } = await addPerson(app);
    const state = async () => (await call('secondFactor.read', token)).body.second_factor;
    expect(await state()).toEqual({ enabled: false, enabled_at: null, recovery_codes: 0 });
    await call('secondFactor.setUp', token);
    const { secret, otpauth_uri } = (await call('secondFactor.setUp', token)).body;
    expect(otpauth_uri).toContain(`Lynxroom:${encodeURIComponent(email)}?secret=${secret}&`);
    expect((await login(email)).status).toBe(200);

    const refused = await call('secondFactor.confirm', token, { code: wrongCode(secret) });
    expect(refused).toMatchObject({ status: 400, body: { message: 'code is wrong', issues: [{ path: 'code' }] } });
    const { recovery_codes } = (await call('secondFactor.confirm', token, { code: codeNow(secret) })).body;
    expect(new Set(recovery_codes).size).toBe(10);
    expect(recovery_codes[0]).toMatch(/^(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    expect(await state()).toMatchObject({ enabled: true, recovery_codes: 10 });
    expect((await call('secondFactor.confirm', token, { code: codeNow(secret, 1) })).status).toBe(409);
    expect((await call('secondFactor.setUp', token)).status).toBe(409);

    const signIn = (input: Input) => call('auth.login', undefined, { email, password: PASSWORD, ...input });
    expect(await signIn({})).toMatchObject(required);
    expect(await signIn({ code: codeNow(secret) })).toMatchObject(wrong);
    const code = codeNow(secret, 1);
    expect((await signIn({ code: ` ${code.slice(0, 3)} ${code.slice(3)}` })).status).toBe(200);
    expect(await signIn({ code })).toMatchObject(wrong);

    expect((await call('secondFactor.remove', token)).body).toEqual({ ok: true });
    expect((await signIn({})).status).toBe(200);
    expect((await call('secondFactor.createRecoveryCodes', token)).status).toBe(409);
  });

  test('each recovery code works once, and new ones replace them', async () => {
    const { email, token, recoveryCodes } = await addProtected();
    const [first = '', second = ''] = recoveryCodes;
    const signIn = (code: string) => call('auth.login', undefined, { email, password: PASSWORD, code });
    expect((await signIn(first.toLowerCase().replaceAll('-', ' '))).status).toBe(200);
    expect(await signIn(first)).toMatchObject(wrong);
    const { recovery_codes: replaced } = (await call('secondFactor.createRecoveryCodes', token)).body;
    expect(await signIn(second)).toMatchObject(wrong);
    expect((await signIn(replaced[0])).status).toBe(200);
    expect((await call('secondFactor.read', token)).body.second_factor.recovery_codes).toBe(9);
  });

  test.each(['secondFactor.setUp', 'secondFactor.createRecoveryCodes', 'secondFactor.remove'])(
    '%s needs a recent sign-in, which the password alone does not renew',
    async (name) => {
      const { token, secret } = await addProtected();
      app.clock.advance(61 * MINUTE_MS);
      const refused = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };
      expect(await call(name, token)).toMatchObject(refused);
      expect(await call('auth.reauthenticate', token, { password: PASSWORD })).toMatchObject(required);
      const guess = { password: PASSWORD, code: wrongCode(secret) };
      expect(await call('auth.reauthenticate', token, guess)).toMatchObject(wrong);
      expect(await call(name, token)).toMatchObject(refused);
      const confirmed = { password: PASSWORD, code: codeNow(secret) };
      expect((await call('auth.reauthenticate', token, confirmed)).status).toBe(200);
      expect((await call(name, token)).status).toBe(name === 'secondFactor.setUp' ? 409 : 200);
    },
  );

  test('after many wrong codes, only recovery codes are checked for a time', async () => {
    const { email, secret, recoveryCodes } = await addProtected();
    const signIn = (code: string) => call('auth.login', undefined, { email, password: PASSWORD, code });
    for (let guess = 0; guess < 5; guess += 1) expect((await signIn(wrongCode(secret))).status).toBe(401);
    app.clock.advance(59 * SECOND_MS);
    const blocked = await signIn(codeNow(secret));
    expect(blocked).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS' } });
    expect(blocked.body.message).toBe('Too many wrong codes: try again in 1 s, or use a recovery code');
    app.clock.advance(1 * SECOND_MS);
    expect((await signIn(wrongCode(secret))).status).toBe(401);
    app.clock.advance(MINUTE_MS);
    expect((await signIn(codeNow(secret))).status).toBe(429);
    expect((await signIn(recoveryCodes[0] ?? '')).status).toBe(200);
    expect((await signIn(codeNow(secret))).status).toBe(200);
  });
});

test('codes are checked after the password, so that nobody without it learns of them or blocks them', async () => {
  const { email, secret } = await addProtected();
  app.clock.advance(MINUTE_MS);
  for (let guess = 0; guess < 10; guess += 1) {
    const { status, body } = await login(email, wrongCode(secret), 'a wrong password');
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
  }
  expect((await login(email, codeNow(secret))).status).toBe(200);
});

test('exactly one of several concurrent sign-ins with the same code succeeds', async () => {
  const { email, secret, recoveryCodes } = await addProtected();
  app.clock.advance(MINUTE_MS);
  expect(countStatuses(await concurrently(4, () => login(email, codeNow(secret))))).toEqual({ 200: 1, 401: 3 });
  expect(countStatuses(await concurrently(4, () => login(email, recoveryCodes[0])))).toEqual({ 200: 1, 401: 3 });
});

test('concurrent wrong codes all count', async () => {
  const { email, secret } = await addProtected();
  const statuses = countStatuses(await concurrently(12, () => login(email, wrongCode(secret))));
  expect(statuses).toEqual({ 401: 5, 429: 7 });
});

test('only one of several concurrent confirmations succeeds, with the codes that then work', async () => {
  const { email, token } = await addPerson(app);
  const { secret } = (await app.http.post('/api/auth/second-factor', token)).body;
  const answers = await concurrently(5, () =>
    app.http.post('/api/auth/second-factor/confirm', token, { code: codeNow(secret) }),
  );
  expect(countStatuses(answers)).toEqual({ 200: 1, 409: 4 });
  const [code] = answers.find(({ status }) => status === 200)?.body.recovery_codes ?? [];
  expect((await login(email, code)).status).toBe(200);
});

test('the secret is sealed, and only hashes of the recovery codes are stored', async () => {
  const { secret, recoveryCodes } = await addProtected();
  const rows = await app.services.db.$queryRaw<{ text: string }[]>`
    select f::text || coalesce((select string_agg(r::text, '') from recovery_codes r), '') as text
    from second_factors f`;
  const stored = JSON.stringify(rows);
  expect(rows).toHaveLength(1);
  for (const text of [secret, ...recoveryCodes.map((code) => code.replaceAll('-', ''))]) {
    expect(stored).not.toContain(text);
    expect(stored).not.toContain(Buffer.from(text).toString('hex'));
  }
});

test('a locked account gets the same response as a wrong password', async () => {
  const { id, email } = await addProtected();
  await app.services.db.user.update({ where: { id }, data: { lockedAt: app.clock.now() } });
  expect((await login(email)).body.code).toBe('UNAUTHORIZED');
});

test('an operator can switch it off, which is in the log', async () => {
  const { id, email } = await addProtected();
  expect(await removeSecondFactorOf(app.services, ` ${email.toUpperCase()}`)).toEqual({ id, removed: true });
  expect((await login(email)).status).toBe(200);
  expect(await removeSecondFactorOf(app.services, email)).toEqual({ id, removed: false });
  const where = { userId: id, action: 'second_factor_disabled' };
  expect(await app.services.db.accountEvent.findMany({ where })).toMatchObject([{ details: { by: 'operator' } }]);
  await expect(removeSecondFactorOf(app.services, 'nobody@example.com')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('sessions say how they were started, and changes are in the log and reported by mail', async () => {
  const { id, email, token, secret, recoveryCodes } = await addProtected();
  app.clock.advance(MINUTE_MS);
  await login(email, codeNow(secret));
  await login(email, recoveryCodes[0]);
  await login(email, wrongCode(secret));
  await app.http.post('/api/auth/second-factor/recovery-codes', token);
  await app.http.delete('/api/auth/second-factor', token);
  const { sessions } = (await app.http.get('/api/auth/sessions', token)).body;
  const methods = sessions.map(({ method }: { method: string }) => method);
  expect(methods).toEqual(['recovery_code', 'totp', 'registration']);
  const events = await app.services.db.accountEvent.findMany({ where: { userId: id }, orderBy: { id: 'asc' } });
  expect(events.map(({ action }) => action)).toEqual([
    'registered',
    'second_factor_enabled',
    'signed_in',
    'recovery_code_used',
    'signed_in',
    'sign_in_failed',
    'recovery_codes_created',
    'second_factor_disabled',
  ]);
  const where = { toAddress: email, kind: 'sign-in-methods-changed' };
  expect(await app.services.db.mailMessage.count({ where })).toBe(4);
});
