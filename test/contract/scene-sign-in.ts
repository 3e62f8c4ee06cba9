/** The ways in which the users of a scene sign in, besides their password. */
import { createHash } from 'node:crypto';
import { hashToken } from '../../src/auth/tokens.ts';
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { type Authenticator, createAuthenticator } from '../support/authenticator.ts';
import type { TestApp } from '../support/test-app.ts';

export type SignInMethods = {
  /** An account at the provider `test`. */
  identityId: number;
  /** The `state` of a sign-in at the provider, from which the user returns now: their address. */
  state: string;
  passkeyId: number;
  authenticator: Authenticator;
  /** An authenticator that is not registered. */
  newAuthenticator: Authenticator;
  /** A registered app, which the user has connected to their Personal workspace. */
  clientId: string;
  appId: number;
};

/** The cookie of the browser that started every sign-in of a scene. */
export const browserCookie = { cookie: `sign_in=${'b'.repeat(32)}` };

const ISSUER = 'https://provider.example.com';
const DOMAIN = 'app.example.com';

/**
 * Answers as the provider `test`, so that calls can be repeated after the rows are restored, and equal worlds get equal
 * answers. `test/openid` has real providers. Also sets the domain of passkeys, since the worlds have an IP address.
 */
export function prepareSignIn({ services }: TestApp): void {
  services.settings.passkeyDomain = DOMAIN;
  services.openid = {
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

/**
 * Links an account at the provider, which returns with a `state` that equals its subject, and registers a passkey. The
 * challenges for its next use are stored.
 */
export async function addSignInMethods(
  app: TestApp,
  { id: userId, email, token }: { id: number; email: string; token: string },
): Promise<SignInMethods> {
  const { db, clock } = app.services;
  const now = clock.now();
  const identity = await db.openidIdentity.create({
    data: { userId, issuer: ISSUER, subject: email, email, createdAt: now, lastUsedAt: now },
  });
  const expiresAt = new Date(now.getTime() + 5 * MINUTE_MS);
  await db.openidRequest.create({
    data: {
      stateHash: hashToken(email),
      browserHash: hashToken('b'.repeat(32)),
      purpose: 'sign_in',
      provider: 'test',
      issuer: ISSUER,
      nonce: 'random',
      codeVerifier: 'random',
      redirectUri: 'http://localhost/sign-in/return',
      returnTo: '/',
      createdAt: now,
      expiresAt,
    },
  });
  const authenticator = authenticatorOf(app, email);
  const { options } = (await app.http.post('/api/auth/passkeys/options', token)).body;
  const response = authenticator.create(options);
  const { passkey } = (await app.http.post('/api/auth/passkeys', token, { name: 'Laptop', response })).body;
  // They have confirmed who they are with the passkey.
  const session = await db.session.update({ where: { tokenHash: hashToken(token) }, data: { secondFactorAt: now } });
  for (const purpose of ['sign_in', 'register', 'reauthenticate'] as const)
    await db.passkeyChallenge.create({
      data: {
        challengeHash: hashToken(challengeOf(purpose, email)),
        purpose,
        sessionId: purpose === 'sign_in' ? null : session.id,
        expiresAt,
      },
    });
  const newAuthenticator = authenticatorOf(app, `new ${email}`);
  const apps = await addApp(app, userId, email);
  return { identityId: identity.id, state: email, passkeyId: passkey.id, authenticator, newAuthenticator, ...apps };
}

async function addApp({ services: { db, clock } }: TestApp, userId: number, email: string) {
  const redirectUri = 'https://agent.example.com/callback';
  const clientId = createHash('sha256').update(email).digest('base64url').slice(0, 32);
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + DAY_MS);
  const data = { id: clientId, name: 'Example Agent', redirectUris: [redirectUri], createdAt };
  await db.oauthClient.create({ data });
  const { workspaceId } = await db.member.findFirstOrThrow({ where: { userId }, orderBy: { workspaceId: 'asc' } });
  const ofApp = { clientId, redirectUri, scopes: ['read'], resource: 'https://meet.example.com/mcp' };
  const code = { codeHash: hashToken(clientId), codeChallenge: 'c'.repeat(43), codeExpiresAt: createdAt };
  const { id: appId } = await db.oauthGrant.create({
    data: { workspaceId, userId, ...ofApp, ...code, createdAt, expiresAt },
  });
  return { clientId, appId };
}

/** The same in equal worlds, except for the origin. */
function authenticatorOf({ url }: TestApp, name: string): Authenticator {
  return createAuthenticator(url, { seed: createHash('sha256').update(name).digest() });
}

export function challengeOf(purpose: string, email: string): string {
  return Buffer.from(`${purpose} ${email}`).toString('base64url');
}

/** The response of the user's passkey. */
export function assertionOf(user: { email: string; signIn: SignInMethods }, purpose: 'sign_in' | 'reauthenticate') {
  const { authenticator } = user.signIn;
  return authenticator.get({ challenge: challengeOf(purpose, user.email), rpId: DOMAIN }, { userHandle: null });
}

/** The response of an authenticator of the user that registers a passkey. */
export function registrationOf(user: { email: string }, authenticator: Authenticator) {
  const challenge = challengeOf('register', user.email);
  return authenticator.create({ challenge, rp: { id: DOMAIN }, user: { id: 'AAAA' } });
}
