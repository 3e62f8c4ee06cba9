/** What the claims of a provider say about the address of a person. */
import { expect, test } from 'vitest';
import { completenessOf, toPerson } from '../../src/auth/openid-person.ts';

const email = 'grace@example.com';
const token = { iss: 'https://a.example', sub: '1', aud: 'us', iat: 0, exp: 1 };
const plain = { emailClaim: 'email', trustsEmail: false };
const trusted = { emailClaim: 'email', trustsEmail: true };
const upn = { emailClaim: 'upn', trustsEmail: false };
const trustedUpn = { emailClaim: 'upn', trustsEmail: true };

test.each([
  [plain, { email, email_verified: true }, {}, true],
  [plain, { email, email_verified: false }, {}, false],
  [plain, { email }, {}, false],
  [plain, { email, email_verified: 'true' }, {}, false],
  // Only the userinfo endpoint says so, about the same address or about another one.
  [plain, { email }, { email, email_verified: true }, true],
  [plain, { email }, { email: 'other@example.com', email_verified: true }, false],
  [plain, {}, { email, email_verified: true }, true],
  [plain, { email, email_verified: false }, { email, email_verified: true }, false],
  [trusted, { email }, {}, true],
  [trusted, { email, email_verified: 'true' }, {}, true],
  [trusted, { email, email_verified: 'false' }, {}, false],
  [trusted, { email, email_verified: false }, {}, false],
  [trusted, { email }, { email, email_verified: false }, false],
  // `email_verified` is about another claim.
  [upn, { upn: email, email, email_verified: true }, {}, false],
  [trustedUpn, { upn: email }, {}, true],
  [trustedUpn, { upn: email, email, email_verified: false }, {}, true],
  [trustedUpn, {}, { upn: email }, true],
] as const)(
  'with %j, %j and %j at the userinfo endpoint, the address is verified: %s',
  (rules, claims, info, isEmailVerified) => {
    expect(toPerson({ ...token, ...claims }, info, rules)).toMatchObject({ email, isEmailVerified });
  },
);

test.each([
  [plain, { email, email_verified: false, name: 'Grace' }, 'all'],
  [plain, { email, email_verified: true }, 'all but the name'],
  [plain, { email, name: 'Grace' }, 'not all'],
  [trusted, { email, name: 'Grace' }, 'all'],
  [trusted, { name: 'Grace' }, 'not all'],
  [trustedUpn, { email, name: 'Grace' }, 'not all'],
  [trustedUpn, { upn: email, name: 'Grace' }, 'all'],
] as const)('with %j, %j contains %s', (rules, claims, completeness) => {
  expect(completenessOf({ ...token, ...claims }, rules)).toBe(completeness);
});

test('a person without an address has none that is verified', () => {
  expect(toPerson(token, {}, trusted)).toMatchObject({ email: null, isEmailVerified: false });
});
