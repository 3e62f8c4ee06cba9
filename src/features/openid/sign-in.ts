/** Signs in a person whom an OpenID provider has identified. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import type { OpenidPerson } from '../../auth/openid-person.ts';
import { AppError, tooManyTries } from '../../core/errors.ts';
import { email as emailSchema, MAX_NAME_LENGTH } from '../../core/validation.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { createUser } from '../auth/create-user.ts';
import { endBeforeFirstProof } from '../auth/first-proof.ts';
import { spendAdmission } from '../auth/registration.ts';
import { type SignedIn, userName } from '../auth/schemas.ts';
import { hasSecondFactor } from '../auth/second-factor.ts';
import { type Client, startSession } from '../auth/sessions.ts';
import { lockUser } from '../auth/sign-in-methods.ts';
import { sendVerification } from '../auth/verify-email.ts';
import { insertIdentity, linkIdentity } from './identities.ts';

const MAX_TRIES = 3;

/** How the person comes back: from which client, and to which path, such as that of an invite link. */
type Return = { client: Client; returnTo: string };

/**
 * Starts a session for the user who is linked to the person. If no user is linked, links the account that has the
 * person's address. This requires that the provider has verified the address, that no other account at this provider is
 * linked, and that the account has no second factor, which linking would bypass. If this service has not verified the
 * address, a stranger may have registered it: then everything that was made with the account ends first, its second
 * factor included (`endBeforeFirstProof`). If no account has the address, creates one.
 *
 * Throws 409 ACCOUNT_NOT_LINKED if an account has the address but cannot be linked. Throws 401 SIGN_IN_REFUSED if the
 * account is locked, or if a new account is needed and the provider sends no address. Throws 403 if a new account is
 * needed, and the operator does not let this person create one.
 */
export async function signInWith(services: Services, person: OpenidPerson, from: Return): Promise<SignedIn> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      return await transact(services.db, (tx) => signInOnce(services, tx, person, from));
    } catch (error) {
      // A concurrent request has linked the same person or registered their address.
      if (!isUniqueViolation(error)) throw error;
    }
  }
  throw tooManyTries();
}

async function signInOnce(
  services: Services,
  tx: Tx,
  person: OpenidPerson,
  { client, returnTo }: Return,
): Promise<SignedIn> {
  const { issuer, subject } = person;
  const identity = await tx.openidIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  });
  if (identity === null) return signInFirst(services, tx, person, { client, returnTo });
  const { user } = identity;
  if (user.lockedAt !== null) throw lockedAccount();
  // Locks the user, so that the identity cannot be unlinked before the commit.
  const signedIn = await startSession(services, tx, user, { ...client, method: 'oidc', issuer });
  const { count } = await tx.openidIdentity.updateMany({
    where: { id: identity.id },
    data: { email: person.email, lastUsedAt: services.clock.now() },
  });
  if (count === 0) throw new AppError('SIGN_IN_REFUSED', 'The account at the provider has just been unlinked');
  return signedIn;
}

/** Signs in a person for the first time. */
async function signInFirst(
  services: Services,
  tx: Tx,
  person: OpenidPerson,
  { client, returnTo }: Return,
): Promise<SignedIn> {
  const address = emailSchema.safeParse(person.email);
  if (!address.success)
    throw new AppError('SIGN_IN_REFUSED', 'The provider did not send an email address, which a new account needs');
  const email = address.data;
  const existing = await tx.user.findUnique({ where: { email }, select: { id: true, emailVerifiedAt: true } });
  if (existing === null) return register(services, tx, person, { email, client, returnTo });
  if (!person.isEmailVerified) throw notLinked();
  // The first proof, which locks the workspaces before the user.
  if (existing.emailVerifiedAt === null) await proveAddress(services, tx, existing.id, client);
  const user = await lockUser(tx, existing.id);
  if (user.lockedAt !== null) throw lockedAccount();
  const isSamePerson = user.emailVerifiedAt !== null && user.email === email;
  if (!isSamePerson || (await hasSecondFactor(tx, user.id))) throw notLinked();
  // Within one provider, only the subject identifies a person: the address may have passed to somebody else.
  const where = { userId: user.id, issuer: person.issuer };
  const linked = await tx.openidIdentity.findMany({ where, select: { subject: true } });
  // Another first sign-in of the same person may just have linked it.
  const isLinked = linked.some(({ subject }) => subject === person.subject);
  if (linked.length > 0 && !isLinked) throw notLinked();
  if (!isLinked) await linkIdentity(services, tx, user, person, client);
  return startSession(services, tx, user, { ...client, method: 'oidc', issuer: person.issuer });
}

async function proveAddress(services: Services, tx: Tx, userId: number, client: Client): Promise<void> {
  const at = services.clock.now();
  if ((await endBeforeFirstProof(services, tx, { userId, at, client })) === null) return;
  await recordAccountEvent(tx, { userId, at, action: 'email_verified', ...client });
}

/** Creates an account without a password. If the provider has not verified the address, sends a confirmation email. */
async function register(
  services: Services,
  tx: Tx,
  person: OpenidPerson,
  { email, client, returnTo }: { email: string; client: Client; returnTo: string },
): Promise<SignedIn> {
  const emailVerifiedAt = person.isEmailVerified ? services.clock.now() : null;
  const { admittedByDomain } = await spendAdmission(services, sqlIn(tx), {
    address: email,
    isProven: person.isEmailVerified,
    invitation: /^\/join\/([^/?#]+)/.exec(returnTo)?.[1],
  });
  const name = toUserName(person.name, email);
  const user = await createUser(services, tx, { name, email, passwordHash: null, emailVerifiedAt, admittedByDomain });
  await insertIdentity(services, tx, user.id, person);
  if (emailVerifiedAt === null)
    await sendVerification(services, sqlIn(tx), { purpose: 'verify_email', userId: user.id, email });
  return startSession(services, tx, user, { ...client, method: 'oidc', issuer: person.issuer, isRegistration: true });
}

/**
 * Returns the person's name as sent by the provider if it is valid, otherwise the part of the email address before the
 * @.
 */
function toUserName(name: string | null, email: string): string {
  const given = userName.safeParse([...(name ?? '')].slice(0, MAX_NAME_LENGTH).join(''));
  return given.success ? given.data : (email.split('@')[0] ?? email);
}

function notLinked(): AppError {
  return new AppError(
    'ACCOUNT_NOT_LINKED',
    'There is an account with this email address: sign in to it in the usual way, and link the provider there',
  );
}

function lockedAccount(): AppError {
  return new AppError('SIGN_IN_REFUSED', 'The account is locked: contact the operator of this service');
}
