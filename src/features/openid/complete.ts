/** Completes a request when a person returns from an OpenID provider. */
import type { OpenidPerson } from '../../auth/openid-person.ts';
import { AppError, conflict } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import type { Services } from '../../services.ts';
import { renewSignIn } from '../auth/reauthenticate.ts';
import type { User } from '../auth/schemas.ts';
import { lockSessionUser } from '../auth/session-user.ts';
import { type Client, toUser } from '../auth/sessions.ts';
import { linkIdentity } from './identities.ts';
import { type OpenidRequest, takeRequest } from './requests.ts';
import type { CompletedOpenid, CompleteOpenidInput } from './schemas.ts';
import { signInWith } from './sign-in.ts';

type Result = Pick<CompletedOpenid, 'user' | 'token' | 'expires_at'>;

/** How far the provider's clock may differ from ours. */
const CLOCK_TOLERANCE_SECONDS = 60;

/**
 * Completes a request that `startRequest` created: signs the person in, links the account at the provider to the user,
 * or records in the session that the user has just signed in again. `browserToken` is the token that `startRequest`
 * returned, and `frontend` is the URL of the frontend. Throws 401 SIGN_IN_EXPIRED, 401 SIGN_IN_REFUSED, 409, or 503
 * PROVIDER_UNAVAILABLE.
 */
export async function completeRequest(
  services: Services,
  { state, ...returned }: CompleteOpenidInput,
  { browserToken, client, frontend }: { browserToken: string | null; client: Client; frontend: string },
): Promise<CompletedOpenid> {
  const request = await takeRequest(services, state, browserToken);
  const { provider, nonce, code_verifier: codeVerifier, redirect_uri: redirectUri, purpose } = request;
  const person = await services.openid.identify(provider, { state, nonce, codeVerifier, redirectUri }, returned);
  const result = await finish(services, request, person, client);
  return { purpose, ...result, return_to: frontend + request.return_to };
}

async function finish(
  services: Services,
  request: OpenidRequest,
  person: OpenidPerson,
  client: Client,
): Promise<Result> {
  const { session_id: sessionId } = request;
  if (sessionId === null) return signInWith(services, person, { client, returnTo: request.return_to });
  const user = await (request.purpose === 'link'
    ? link(services, sessionId, person, client)
    : reauthenticate(services, { sessionId, createdAt: request.created_at }, person, client));
  return { user, token: null, expires_at: null };
}

/**
 * Links the person to the user of the session. Does nothing if they are already linked. Throws 409 if the person is
 * linked to another user, or if this user has too many linked accounts.
 */
async function link(services: Services, sessionId: number, person: OpenidPerson, client: Client): Promise<User> {
  const { issuer, subject } = person;
  const linkOnce = () =>
    transact(services.db, async (tx) => {
      const user = await lockSessionUser(services, tx, sessionId);
      const existing = await tx.openidIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } });
      if (existing !== null && existing.userId !== user.id) throw belongsToAnother();
      if (existing === null) await linkIdentity(services, tx, user, person, client);
      return toUser(user);
    });
  try {
    return await linkOnce();
  } catch (error) {
    if (isUniqueViolation(error)) throw belongsToAnother();
    throw error;
  }
}

function belongsToAnother(): AppError {
  return conflict(
    'This account at the provider is already linked to another account of this service: ' +
      'sign in to that account and unlink it first',
  );
}

/**
 * Records a new sign-in in the session if the person is linked to the user of the session and has just signed in at the
 * provider.
 */
function reauthenticate(
  services: Services,
  { sessionId, createdAt }: { sessionId: number; createdAt: Date },
  { issuer, subject, authenticatedAt }: OpenidPerson,
  client: Client,
): Promise<User> {
  // Some providers do not send the time, and some ignore the request to sign in again.
  if (authenticatedAt !== null && authenticatedAt < toUnixSeconds(createdAt) - CLOCK_TOLERANCE_SECONDS)
    throw new AppError('SIGN_IN_REFUSED', 'You did not sign in again at the provider: try another way');
  return transact(services.db, async (tx) => {
    const user = await lockSessionUser(services, tx, sessionId);
    const { count } = await tx.openidIdentity.updateMany({
      where: { userId: user.id, issuer, subject },
      data: { lastUsedAt: services.clock.now() },
    });
    if (count === 0)
      throw new AppError('SIGN_IN_REFUSED', 'This account at the provider is not linked to your account here');
    await renewSignIn(services, tx, { sessionId, userId: user.id }, { ...client, method: 'oidc', issuer });
    return toUser(user);
  });
}
