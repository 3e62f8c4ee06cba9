/** Signs users in with a passkey, and lets signed-in users prove their identity again with one. */
import { AppError } from '../../core/errors.ts';
import { type Database, type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { renewSignIn } from '../auth/reauthenticate.ts';
import type { SignedIn } from '../auth/schemas.ts';
import { type Client, startSession } from '../auth/sessions.ts';
import { CHALLENGE_MS, type ChallengeUse, createChallenge, takeChallenge } from './challenges.ts';
import { loadWebauthn } from './load-webauthn.ts';
import type { SessionCaller } from './register-passkey.ts';
import type { RelyingParty } from './relying-party.ts';
import type { PasskeySignInInput, SignInOptions } from './schemas.ts';

type Asserted = PasskeySignInInput['response'];
type From = { relyingParty: RelyingParty; client: Client };

/** Returns the options for `navigator.credentials.get`. They allow any passkey, because signing in needs no address. */
export async function startSignIn(
  services: Pick<Services, 'db' | 'clock'>,
  relyingParty: RelyingParty,
): Promise<SignInOptions> {
  const challenge = await createChallenge(services, { purpose: 'sign_in', sessionId: null });
  return toOptions(relyingParty, challenge, []);
}

/** Like `startSignIn`, but allows only the user's passkeys. Throws 401 SIGN_IN_REFUSED if the user has none. */
export async function startReauthentication(
  services: Pick<Services, 'db' | 'clock'>,
  { caller: { userId }, sessionId }: SessionCaller,
  relyingParty: RelyingParty,
): Promise<SignInOptions> {
  const passkeys = await services.db.passkey.findMany({
    where: { userId },
    select: { credentialId: true, transports: true },
    orderBy: { id: 'asc' },
  });
  if (passkeys.length === 0) throw new AppError('SIGN_IN_REFUSED', 'The account has no passkey: sign in another way');
  const challenge = await createChallenge(services, { purpose: 'reauthenticate', sessionId });
  const credentials = passkeys.map(({ credentialId: id, transports }) => ({
    id,
    type: 'public-key' as const,
    transports,
  }));
  return toOptions(relyingParty, challenge, credentials);
}

function toOptions(
  { id: rpId }: RelyingParty,
  challenge: string,
  allowCredentials: SignInOptions['allowCredentials'],
): SignInOptions {
  return { rpId, challenge, timeout: CHALLENGE_MS, allowCredentials, userVerification: 'required' };
}

/**
 * Starts a session for the user who owns the passkey. Throws 401 SIGN_IN_EXPIRED if the challenge is unknown, used or
 * expired. Throws 401 SIGN_IN_REFUSED if the passkey is unknown, the response is not valid, or the account is locked.
 */
export async function signInWithPasskey(
  services: Services,
  { response }: PasskeySignInInput,
  { relyingParty, client }: From,
): Promise<SignedIn> {
  const verified = await verify(services, response, relyingParty, { purpose: 'sign_in', sessionId: null });
  const { user } = verified.passkey;
  if (user.lockedAt !== null)
    throw new AppError('SIGN_IN_REFUSED', 'The account is locked: contact the operator of this service');
  return transact(services.db, async (tx) => {
    // Locks the user, so that the passkey cannot be removed before the commit.
    const signedIn = await startSession(services, tx, user, { ...client, method: 'passkey' });
    await recordUse(services, tx, verified);
    return signedIn;
  });
}

/**
 * Checks a passkey of the signed-in user, after which the session counts as recently signed in. Throws the same errors
 * as `signInWithPasskey`.
 */
export async function reauthenticateWithPasskey(
  services: Pick<Services, 'db' | 'clock'>,
  { caller: { userId }, sessionId }: SessionCaller,
  { response }: PasskeySignInInput,
  { relyingParty, client }: From,
): Promise<{ ok: true }> {
  const verified = await verify(services, response, relyingParty, { purpose: 'reauthenticate', sessionId });
  if (verified.passkey.userId !== userId) throw refused();
  return transact(services.db, async (tx) => {
    await renewSignIn(services, tx, { sessionId, userId }, { ...client, method: 'passkey' });
    await recordUse(services, tx, verified);
    return { ok: true };
  });
}

type Verified = {
  passkey: NonNullable<Awaited<ReturnType<typeof findPasskey>>>;
  newCounter: number;
  isBackedUp: boolean;
};

function findPasskey(db: Database, credentialId: string) {
  return db.passkey.findUnique({ where: { credentialId }, include: { user: true } });
}

/** Verifies a response and uses up its challenge. An unknown passkey gets the same error as a wrong signature. */
async function verify(
  services: Pick<Services, 'db' | 'clock'>,
  response: Asserted,
  { id: expectedRPID, origins: expectedOrigin }: RelyingParty,
  use: ChallengeUse,
): Promise<Verified> {
  const { userHandle, ...others } = response.response;
  const expectedChallenge = await takeChallenge(services, others.clientDataJSON, use);
  const passkey = await findPasskey(services.db, response.id);
  if (passkey === null) throw refused();
  if (userHandle != null && !isHandleOf(passkey.user.passkeyHandle, userHandle)) throw refused();
  const { verifyAuthenticationResponse } = await loadWebauthn();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...response, response: others, clientExtensionResults: {} },
    expectedChallenge,
    expectedOrigin,
    expectedRPID,
    credential: {
      id: passkey.credentialId,
      publicKey: passkey.publicKey,
      // Authenticators use 32-bit counters.
      counter: Number(passkey.counter),
    },
    requireUserVerification: true,
  }).catch((error: unknown) => {
    throw refused(error);
  });
  if (!verified) throw refused();
  return { passkey, newCounter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp };
}

function isHandleOf(handle: Uint8Array | null, text: string): boolean {
  return handle !== null && Buffer.from(handle).equals(Buffer.from(text, 'base64url'));
}

/**
 * Stores the counter. Throws 401 if the passkey was removed, or if another response has raised the counter
 * concurrently.
 */
async function recordUse({ clock }: Pick<Services, 'clock'>, tx: Tx, verified: Verified): Promise<void> {
  const { passkey, newCounter, isBackedUp } = verified;
  const { count } = await tx.passkey.updateMany({
    where: { id: passkey.id, counter: passkey.counter },
    data: { counter: newCounter, isBackedUp, lastUsedAt: clock.now() },
  });
  if (count === 0) throw refused();
}

function refused(cause?: unknown): AppError {
  return new AppError('SIGN_IN_REFUSED', 'The passkey was not accepted', { cause });
}
