/** What a password reset leaves of an account that a stranger may have registered. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, fromBase32, stepAt } from '../../src/auth/totp.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { tokenFor } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';

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
