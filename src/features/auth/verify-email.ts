/** Confirming that an email address belongs to the user of an account. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { createAccountToken, endAccountTokens, findAccountToken, takeAccountToken } from '../../auth/account-tokens.ts';
import type { Caller } from '../../auth/identify.ts';
import type { Requester } from '../../auth/passwords.ts';
import { type AppError, badField, conflict, tooManyRequests } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Sql } from '../../db/statements.ts';
import { linkTo } from '../../mail/kinds.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import { recordFailedSignIn } from './account-log.ts';
import type { VerifyEmailInput } from './link-schemas.ts';
import type { SessionCall } from './own-sessions.ts';
import { lockSessionUser } from './session-user.ts';
import type { Client } from './sessions.ts';
import { type LockedUser, lockUser } from './sign-in-methods.ts';

type MailServices = Pick<Services, 'db' | 'clock' | 'sealer'>;

const RETRY_SECONDS = HOUR_MS / SECOND_MS;

/**
 * Sends the link to confirm an address. Returns false if too many were sent. For a new address, only links that this
 * user requested count, so the result does not reveal whether others have had mail sent to the address.
 */
export async function sendVerification(
  services: Pick<Services, 'clock' | 'sealer'>,
  sql: Sql,
  { purpose, userId, email }: { purpose: 'verify_email' | 'change_email'; userId: number; email: string },
): Promise<boolean> {
  const now = services.clock.now();
  const expiresAt = new Date(now.getTime() + DAY_MS);
  const token = await createAccountToken(sql, { purpose, userId, address: email }, { now, expiresAt });
  if (token === null) return false;
  const kind = purpose === 'verify_email' ? 'verify-email' : 'change-email';
  const isQueued = await queueMail(services, sql, { kind, to: email, data: { link: linkTo('/verify-email', token) } });
  if (isQueued || purpose === 'verify_email') return isQueued;
  // The mail was not queued: delete the token, so that it does not count.
  await takeAccountToken(sql, token, [purpose], now);
  return true;
}

/**
 * Sends the link to confirm the caller's address again. Throws 409 if it is already confirmed, and 429 after a few
 * requests.
 */
export async function resendVerification(services: MailServices, caller: Caller): Promise<{ ok: true }> {
  if (caller.emailVerified) throw conflict('The email address is already confirmed');
  const user = { purpose: 'verify_email', userId: caller.userId, email: caller.email } as const;
  if (!(await transact(services.db, (tx) => sendVerification(services, sqlIn(tx), user)))) throw tooManyLinks();
  return { ok: true };
}

/**
 * Sends a link to a new address. When the link is used, the address becomes that of the account. The response is the
 * same if another account has the address. Throws 400 if it is the current one, 401 SIGN_IN_EXPIRED if the session has
 * ended, and 429 after a few requests.
 */
export async function requestEmailChange(
  services: MailServices & Pick<Services, 'settings'>,
  { sessionId, client }: Pick<SessionCall, 'sessionId' | 'client'>,
  { email }: { email: string },
): Promise<{ ok: true }> {
  await transact(services.db, async (tx) => {
    // Must run first. A password change ends all links that exist at that time; a link created later needs a session
    // that the password change has left open.
    const { id: userId, email: present } = await lockSessionUser(services, tx, sessionId);
    if (email === present) throw badField('email', 'email is already the address of the account');
    if (!(await sendVerification(services, sqlIn(tx), { purpose: 'change_email', userId, email })))
      throw tooManyLinks();
    await recordAccountEvent(tx, { userId, at: services.clock.now(), action: 'email_change_requested', ...client });
  });
  return { ok: true };
}

function tooManyLinks(): AppError {
  return tooManyRequests('Too many links were requested: try again in an hour', RETRY_SECONDS);
}

/** How somebody who uses a link may prove that the account is theirs. */
export type Proof = {
  caller: Caller | null;
  requester: Requester;
  client: Client;
  /** Counts a guess of the password of the account with this address. Throws 429 for too many. */
  limitGuesses(email: string): Promise<void>;
};

const purposes = ['verify_email', 'change_email'] as const;

/**
 * Confirms the address that a link was sent to. If the link was for a new address, the account now has it, and the old
 * one gets a notice. The link alone is not enough: it also reaches the owner of an address that a stranger has
 * registered. Throws 400 for a link that does not work, and without a session of the account or its password, 429 after
 * many guesses of the password, and 409 if another account has the address.
 */
export async function verifyEmail(
  services: Services,
  { token, password }: VerifyEmailInput,
  proof: Proof,
): Promise<{ email: string }> {
  const { db, clock } = services;
  const at = clock.now();
  const found = await findAccountToken(db.sql, token, purposes, at);
  if (found === null || found.userId === null) throw uselessLink();
  const { userId, address: email, purpose } = found;
  const lockOwner = await proveOwner(services, { userId, password }, proof);
  try {
    return await transact(db, async (tx) => {
      const user = await lockOwner(tx);
      if ((await takeAccountToken(sqlIn(tx), token, purposes, at)) === null) throw uselessLink();
      const isChange = purpose === 'change_email';
      if (isChange) await changeEmail(services, tx, user, { email, at });
      else if (!(await confirmEmail(tx, { userId, email, at }))) throw uselessLink();
      const action = isChange ? 'email_changed' : 'email_verified';
      await recordAccountEvent(tx, { userId, at, action, ...proof.client });
      return { email };
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict('An account with this email address already exists');
    throw error;
  }
}

/** Returns how to lock the user in the transaction, where the proof is checked again. */
async function proveOwner(
  services: Services,
  { userId, password }: { userId: number; password: string | undefined },
  { caller, requester, client, limitGuesses }: Proof,
): Promise<(tx: Tx) => Promise<LockedUser>> {
  const session = caller?.userId === userId && caller.credential.kind === 'session' ? caller.credential : null;
  if (session !== null) return (tx) => lockSessionUser(services, tx, session.id);
  if (password === undefined)
    throw badField('password', 'password is required: enter the password of the account, or sign in to it first');
  const user = await services.db.user.findUnique({
    where: { id: userId },
    select: { email: true, passwordHash: true },
  });
  if (user === null) throw uselessLink();
  const { email, passwordHash } = user;
  if (passwordHash === null)
    throw badField('password', 'The account has no password: sign in to it, and then open the link again');
  await limitGuesses(email);
  if (!(await services.passwords.isCorrect(password, passwordHash, requester))) {
    recordFailedSignIn(services, userId, client);
    throw badField('password', 'password is wrong');
  }
  return async (tx) => {
    const locked = await lockUser(tx, userId);
    if (locked.lockedAt !== null || locked.passwordHash !== passwordHash) throw uselessLink();
    return locked;
  };
}

/** 400 for a link that was used, has expired, or was never sent. They cannot be told apart. */
export function uselessLink(): AppError {
  return badField('token', 'This link was already used or has expired: request a new one');
}

type Confirmed = { userId: number; email: string; at: Date };

/** Notes that the user reads mail at the address. Returns false if the account no longer has it. */
export async function confirmEmail(tx: Tx, { userId, email, at }: Confirmed): Promise<boolean> {
  const { count } = await tx.user.updateMany({ where: { id: userId, email }, data: { emailVerifiedAt: at } });
  return count > 0;
}

/** Gives the user, who is locked, another address. */
async function changeEmail(
  services: MailServices,
  tx: Tx,
  { id: userId, email: before }: LockedUser,
  { email, at }: Omit<Confirmed, 'userId'>,
): Promise<void> {
  await tx.user.updateMany({ where: { id: userId }, data: { email, emailVerifiedAt: at } });
  // Somebody who reads mail at the old address can no longer take over the account.
  const ended = ['reset_password', 'change_email', 'verify_email'] as const;
  await endAccountTokens(sqlIn(tx), { userId, address: before }, ended);
  await queueMail(services, sqlIn(tx), { kind: 'email-changed', to: before, data: { newEmail: email } });
}
