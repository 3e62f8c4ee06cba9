/** The settings of OpenID providers. */
import { expect, test } from 'vitest';
import { ConfigError, readConfig, settingNamesFor } from '../../src/runtime/config.ts';
import { describeUnknownSettings } from '../../src/runtime/unknown-settings.ts';

const google = {
  OIDC_GOOGLE_ISSUER: 'https://accounts.google.com',
  OIDC_GOOGLE_CLIENT_ID: 'id',
  OIDC_GOOGLE_CLIENT_SECRET: 'hunter2',
};

function problemsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n').slice(1).join('\n').trim();
    throw error;
  }
  return 'accepted';
}

test('several providers are read, in the order of their names', () => {
  const { openidProviders } = readConfig({
    OIDC_MY_COMPANY_2_ISSUER: 'https://login.example.com/tenant/v2.0',
    OIDC_MY_COMPANY_2_CLIENT_ID: 'other',
    OIDC_MY_COMPANY_2_CLIENT_SECRET: 'secret',
    OIDC_MY_COMPANY_2_LABEL: 'ACME',
    OIDC_MY_COMPANY_2_EMAIL_CLAIM: 'upn',
    OIDC_MY_COMPANY_2_TRUST_EMAIL: '1',
    ...google,
  });
  expect(openidProviders).toEqual([
    {
      id: 'google',
      name: 'Google',
      issuer: 'https://accounts.google.com',
      clientId: 'id',
      clientSecret: 'hunter2',
      emailClaim: 'email',
      trustsEmail: false,
    },
    {
      id: 'my-company-2',
      name: 'ACME',
      issuer: 'https://login.example.com/tenant/v2.0',
      clientId: 'other',
      clientSecret: 'secret',
      emailClaim: 'upn',
      trustsEmail: true,
    },
  ]);
});

test('without settings there is none, and empty ones count as not set', () => {
  expect(readConfig({ OIDC_GOOGLE_ISSUER: '', OIDC_GOOGLE_CLIENT_ID: '' }).openidProviders).toEqual([]);
});

test.each([
  [{ OIDC_GOOGLE_CLIENT_SECRET: '' }, 'OIDC_GOOGLE_CLIENT_SECRET must be set together with OIDC_GOOGLE_ISSUER'],
  [{ OIDC_GOOGLE_ISSUER: '' }, 'OIDC_GOOGLE_ISSUER must be set together with OIDC_GOOGLE_CLIENT_ID'],
  [{ OIDC_GOOGLE_EMAIL_CLAIM: 'the address' }, 'OIDC_GOOGLE_EMAIL_CLAIM must be the name of a claim, such as upn'],
  [{ OIDC_GOOGLE_TRUST_EMAIL: 'yes' }, 'OIDC_GOOGLE_TRUST_EMAIL must be 0 or 1'],
  [{ OIDC_B_LABEL: 'B', OIDC_B_ISSUER: 'https://b', OIDC_B_CLIENT_ID: 'b', OIDC_B_CLIENT_SECRET: 'b' }, 'accepted'],
  ...[
    'accounts.google.com',
    'http://accounts.google.com',
    'https://a.example/?x',
    'ftp://a.example',
    'https://u@a.example',
  ].map((issuer) => [
    { OIDC_GOOGLE_ISSUER: issuer },
    'OIDC_GOOGLE_ISSUER must be a URL that begins with https:// and has no query',
  ]),
] as [Record<string, string>, string][])('%j: %s', (env, expected) => {
  expect(problemsOf({ ...google, ...env })).toBe(expected);
});

test('plain HTTP is for providers on this machine, and not in production', () => {
  const env = { ...google, OIDC_GOOGLE_ISSUER: 'http://127.0.0.1:4000' };
  expect(problemsOf(env)).toBe('accepted');
  expect(problemsOf({ ...env, NODE_ENV: 'production' })).toContain('OIDC_GOOGLE_ISSUER must be a URL');
});

test.each([
  ['OIDC_GOOGLE_CLIENT_SECRT', 'OIDC_GOOGLE_CLIENT_SECRT (did you mean OIDC_GOOGLE_CLIENT_SECRET?)'],
  ['OIDC_GOOGLE_ISUER', 'OIDC_GOOGLE_ISUER (did you mean OIDC_GOOGLE_ISSUER?)'],
  ['OIDC_PROVIDERS', 'OIDC_PROVIDERS'],
  ['PASSKEY_DOMAINS', 'PASSKEY_DOMAINS (did you mean PASSKEY_DOMAIN?)'],
])('a misspelt setting is reported without its value: %s', (name, found) => {
  const env = { ...google, OIDC_GOOGLE_LABEL: 'Google', [name]: 'hunter3' };
  expect(describeUnknownSettings(env, settingNamesFor(env))).toBe(`Unknown settings, which have no effect: ${found}`);
});
