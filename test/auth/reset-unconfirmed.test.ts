/** What a password reset leaves of an account that a stranger may have registered. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, fromBase32, stepAt } from '../../src/auth/totp.ts';
import { auditOf } from '../support/audit.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam } from '../support/world.ts';

const ORIGIN = 'https://app.example.com';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ settings: { appUrl: ORIGIN, trustedOrigins: [ORIGIN] } });
});
afterAll(() => app.close());

async function post(path: string, token?: string, body: object = {}) {
  const answer = await app.http.post(path, token, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

test.each([
  ['never confirmed, they end', false],
  ['confirmed before, they stay', true],
])('a passkey, an API key and a second factor: if the address was %s', async (_title, isConfirmed) => {
  const { email, token } = await addPerson(app);
  if (isConfirmed) await post('/api/auth/verify-email', token, { token: await tokenFor(app, email, 'verify-email') });
  const authenticator = createAuthenticator(ORIGIN);
  const { options } = await post('/api/auth/passkeys/options', token);
  await post('/api/auth/passkeys', token, { name: 'Laptop', response: authenticator.create(options) });
  const [workspace] = (await app.http.get('/api/workspaces', token)).body.workspaces;
  const keys = `/api/workspaces/${workspace.id}/api-keys`;
  const { apiKey } = await post(keys, token, { name: 'Reader' });
  const { secret } = await post('/api/auth/second-factor', token);
  const code = codeOf(fromBase32(secret), stepAt(app.clock.now()));
  await post('/api/auth/second-factor/confirm', token, { code });

  const password = 'an entirely new password';
  await post('/api/auth/forgot-password', undefined, { email });
  await post('/api/auth/reset-password', undefined, { token: await tokenFor(app, email, 'reset-password'), password });

  const signIn = (await post('/api/auth/passkeys/sign-in/options')).options;
  const response = authenticator.get(signIn);
  const statuses = [
    await app.http.post('/api/auth/passkeys/sign-in', undefined, { response }),
    await app.http.get(`/api/workspaces/${workspace.id}/rooms`, apiKey.full_key),
    await app.http.post('/api/auth/login', undefined, { email, password }),
  ].map(({ status }) => status);
  expect(statuses).toEqual(isConfirmed ? [200, 200, 401] : [401, 401, 200]);
});

test.each([
  ['never confirmed, it ends, and the workspace sees it in its log', false],
  ['confirmed before, it stays', true],
])('a key that belongs to a workspace of others: if the address of its creator was %s', async (_title, isConfirmed) => {
  const team = await addTeam(app);
  const { email, token } = team.admin;
  if (isConfirmed) await post('/api/auth/verify-email', token, { token: await tokenFor(app, email, 'verify-email') });
  const create = async (by: string, key: object) => (await post(`${team.path}/api-keys`, by, key)).apiKey;
  const own = await create(token, { name: 'Of the workspace', belongs_to: 'workspace' });
  const others = await create(team.owner.token, { name: 'Of the owner', belongs_to: 'workspace' });
  await post('/api/auth/forgot-password', undefined, { email });
  const reset = { token: await tokenFor(app, email, 'reset-password'), password: 'an entirely new password' };
  await post('/api/auth/reset-password', undefined, reset);

  const statusOf = async (key: string) => (await app.http.get(`${team.path}/rooms`, key)).status;
  expect([await statusOf(own.full_key), await statusOf(others.full_key)]).toEqual([isConfirmed ? 200 : 401, 200]);
  const { apiKeys } = (await app.http.get(`${team.path}/api-keys`, team.owner.token)).body;
  const active = apiKeys.map(({ name, is_active }: { name: string; is_active: number }) => [name, is_active]);
  expect(Object.fromEntries(active)).toEqual({ 'Of the owner': 1, 'Of the workspace': isConfirmed ? 1 : 0 });
  const revoked = (await auditOf(app, team.id)).filter(({ action }) => action === 'api_key.revoked');
  expect(revoked.map(({ target }) => target)).toEqual(isConfirmed ? [] : [['api_key', own.id]]);
});
