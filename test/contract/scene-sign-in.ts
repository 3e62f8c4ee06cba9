/** The ways in which the users of a scene sign in, besides their password. */
import { hashToken } from '../../src/auth/tokens.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import type { TestApp } from '../support/test-app.ts';

export type SignInMethods = {
  /** An account at the provider `test`. */
  identityId: number;
  /** The `state` of a sign-in at the provider, from which the user returns now: their address. */
  state: string;
};

/** The cookie of the browser that started every sign-in of a scene. */
export const browserCookie = { cookie: `sign_in=${'b'.repeat(32)}` };

const ISSUER = 'https://provider.example.com';

/**
 * Answers as the provider `test`, so that calls can be repeated after the rows are restored, and equal worlds get equal
 * answers. `test/openid` has real providers.
 */
export function useTestProvider(app: TestApp): void {
  app.services.openid = {
    list: [{ id: 'test', name: 'Test', issuer: ISSUER }],
    findByIssuer: (issuer) => (issuer === ISSUER ? 'test' : null),
    createUrl: async () => ({
      url: `${ISSUER}/authorize?state=random`,
      state: `random ${crypto.randomUUID()}`,
      nonce: 'random',
      codeVerifier: 'random',
    }),
    identify: async (_providerId, { state }) => ({
      issuer: ISSUER,
      subject: state,
      email: state,
      isEmailVerified: false,
      name: null,
      authenticatedAt: null,
    }),
  };
}

/** Links an account at the provider, which returns with a `state` that equals its subject. */
export async function addSignInMethods(
  { services: { db, clock } }: TestApp,
  userId: number,
  email: string,
): Promise<SignInMethods> {
  const now = clock.now();
  const state = email;
  const identity = await db.openidIdentity.create({
    data: { userId, issuer: ISSUER, subject: state, email, createdAt: now, lastUsedAt: now },
  });
  await db.openidRequest.create({
    data: {
      stateHash: hashToken(state),
      browserHash: hashToken('b'.repeat(32)),
      purpose: 'sign_in',
      provider: 'test',
      issuer: ISSUER,
      nonce: 'random',
      codeVerifier: 'random',
      redirectUri: 'http://localhost/sign-in/return',
      returnTo: '/',
      createdAt: now,
      expiresAt: new Date(now.getTime() + 10 * MINUTE_MS),
    },
  });
  return { identityId: identity.id, state };
}
