/** Adds a passkey to the account of a signed-in user. */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../../auth/identify.ts';
import { type AppError, badField, conflict, unauthorized } from '../../core/errors.ts';
import { type Database, transact } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { bytes, int, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { lockSessionUser } from '../auth/session-user.ts';
import type { Client } from '../auth/sessions.ts';
import { reportMethodChange } from '../auth/sign-in-methods.ts';
import { CHALLENGE_MS, createChallenge, takeChallenge } from './challenges.ts';
import { loadWebauthn } from './load-webauthn.ts';
import { toPasskey } from './passkeys.ts';
import type { RelyingParty } from './relying-party.ts';
import type { Passkey, RegisterPasskeyInput, RegistrationOptions } from './schemas.ts';

/** A signed-in user and their session. */
export type SessionCaller = { caller: Caller; sessionId: number };

const MAX_PASSKEYS = 20;
/** EdDSA, ES256 and RS256. The library's default also includes an algorithm that Node considers experimental. */
const ALGORITHMS = [-8, -7, -257];

/**
 * Returns the options for `navigator.credentials.create`. They require user verification and a discoverable passkey, so
 * that signing in needs no address. Throws 409 if the user has the maximum number of passkeys.
 */
export async function startRegistration(
  services: Pick<Services, 'db' | 'clock'>,
  { caller, sessionId }: SessionCaller,
  relyingParty: RelyingParty,
): Promise<RegistrationOptions> {
  const { db } = services;
  const { userId, email, name } = caller;
  const passkeys = await db.passkey.findMany({
    where: { userId },
    select: { credentialId: true, transports: true },
    orderBy: { id: 'asc' },
  });
  if (passkeys.length >= MAX_PASSKEYS) throw tooManyPasskeys();
  const { generateRegistrationOptions } = await loadWebauthn();
  const options = await generateRegistrationOptions({
    rpName: 'Lynxroom',
    rpID: relyingParty.id,
    userName: email,
    userDisplayName: name,
    userID: await findOrCreateHandle(db, userId),
    challenge: fromBase64Url(await createChallenge(services, { purpose: 'register', sessionId })),
    timeout: CHALLENGE_MS,
    attestationType: 'none',
    excludeCredentials: passkeys.map(({ credentialId: id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  // The library's types do not reflect the options set above.
  return options as RegistrationOptions;
}

const findOrStoreHandle = statement('find-or-store-passkey-handle', {
  params: { userId: int, created: bytes },
  returns: { handle: bytes },
  // The handle alone does not carry out a call, so its idempotency key stays free.
  hasChanged: () => false,
  sql: `
    update users set passkey_handle = coalesce(passkey_handle, $created) where id = $userId
    returning passkey_handle as handle`,
});

/** The user's ID for authenticators. It is random, so that it does not reveal who the user is. */
async function findOrCreateHandle(db: Database, userId: number): Promise<Uint8Array<ArrayBuffer>> {
  const [user] = await db.sql.run(findOrStoreHandle, { userId, created: randomBytes(32) });
  if (user === undefined) throw unauthorized();
  return new Uint8Array(user.handle);
}

/**
 * Stores a passkey that was created with the options from `startRegistration`. Throws 401 SIGN_IN_EXPIRED if the
 * challenge does not belong to this session or the session has ended, 400 if the response is not valid, and 409 if the
 * passkey is already registered or the user has too many passkeys.
 */
export async function registerPasskey(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'settings'>,
  { caller: { userId }, sessionId }: SessionCaller,
  { name, response }: RegisterPasskeyInput,
  { relyingParty, client }: { relyingParty: RelyingParty; client: Client },
): Promise<Passkey> {
  const expectedChallenge = await takeChallenge(services, response.response.clientDataJSON, {
    purpose: 'register',
    sessionId,
  });
  const { credential, credentialBackedUp, aaguid } = await verify(response, expectedChallenge, relyingParty);
  const add = () =>
    transact(services.db, async (tx) => {
      const user = await lockSessionUser(services, tx, sessionId);
      if ((await tx.passkey.count({ where: { userId } })) >= MAX_PASSKEYS) throw tooManyPasskeys();
      const passkey = await tx.passkey.create({
        data: {
          userId,
          name,
          credentialId: credential.id,
          publicKey: credential.publicKey,
          counter: credential.counter,
          transports: response.response.transports ?? [],
          isBackedUp: credentialBackedUp,
          aaguid,
          createdAt: services.clock.now(),
        },
      });
      await reportMethodChange(services, tx, user, { change: 'passkey-added', name, client });
      return toPasskey(passkey);
    });
  try {
    return await add();
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict('This passkey is already registered');
    throw error;
  }
}

async function verify(
  response: RegisterPasskeyInput['response'],
  expectedChallenge: string,
  { id: expectedRPID, origins: expectedOrigin }: RelyingParty,
) {
  const { verifyRegistrationResponse } = await loadWebauthn();
  try {
    await refuseCertificates(response.response.attestationObject);
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...response,
        response: { ...response.response, transports: response.response.transports ?? [] },
        clientExtensionResults: {},
      },
      expectedChallenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (registrationInfo) return registrationInfo;
  } catch (error) {
    throw refused(error);
  }
  throw refused();
}

/**
 * Throws if the attestation has certificates. The options request no attestation, and checking certificates would mean
 * fetching the URLs in the certificates, which a caller can choose.
 */
async function refuseCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(fromBase64Url(attestationObject));
  const format = attestation.get('fmt');
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw new Error(`Unexpected attestation format ${format}`);
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64url'));
}

function refused(cause?: unknown): AppError {
  return badField('response', 'response is not a valid passkey for this service', cause);
}

function tooManyPasskeys(): AppError {
  return conflict(`An account can have at most ${MAX_PASSKEYS} passkeys: remove one first`);
}
