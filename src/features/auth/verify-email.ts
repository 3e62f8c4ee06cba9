/** Confirms that an email address belongs to the user of an account. */
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
 * Sends a link that confirms an address. Returns false if too many links were sent. For a new address, only links that
 * this user requested count, so that the result does not reveal links that other users requested.
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
  // The mail was not queued, so delete the token: it must not count.
  await takeAccountToken(sql, token, [purpose], now);
  return true;
}

/**
 * Sends another link that confirms the caller's address. Throws 401 if the account has been deleted, 409 if the address
 * is already confirmed, and 429 after a few requests.
 */
export async function resendVerification(services: MailServices, { userId }: Caller): Promise<{ ok: true }> {
  await transact(services.db, async (tx) => {
    const { email, emailVerifiedAt } = await lockUser(tx, userId);
    if (emailVerifiedAt !== null) throw conflict('The email address is already confirmed');
    if (!(await sendVerification(services, sqlIn(tx), { purpose: 'verify_email', userId, email })))
      throw tooManyLinks();
  });
  return { ok: true };
}

/**
 * Sends a link to a new address, which replaces the address of the account when the link is used. The response does not
 * show whether another account has the address. Throws 400 for the current address, 401 SIGN_IN_EXPIRED if the session
 * has ended, and 429 after a few requests.
 */
export async function requestEmailChange(
  services: MailServices & Pick<Services, 'settings'>,
  { sessionId, client }: Pick<SessionCall, 'sessionId' | 'client'>,
  { email }: { email: string },
): Promise<{ ok: true }> {
  await transact(services.db, async (tx) => {
    // Must run first, because it waits for a password change in progress. The change invalidates all earlier links, and
    // ends this session unless the session made the change.
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

/** Evidence that the person who uses a link owns the account: a session, or the password. */
export type Proof = {
  caller: Caller | null;
  requester: Requester;
  client: Client;
  /** Counts an attempt to enter the password of the account with this address. Throws 429 after too many. */
  limitGuesses(email: string): Promise<void>;
};

const purposes = ['verify_email', 'change_email'] as const;

/**
 * Confirms the address that a link was sent to. If this is a new address, it replaces the old one, which gets a notice.
 * The link alone is not enough, because a stranger may have registered the address of the person who reads the mail.
 * Throws 400 if the link does not work, or if the call has neither a session of the account nor its password. Throws
 * 429 after many wrong passwords, and 409 if another account has the address.
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

/** Checks the proof. Returns a function that locks the user in the transaction and checks the proof again. */
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

/** The same 400 for a link that was used, has expired or never existed. */
export function uselessLink(): AppError {
  return badField('token', 'This link was already used or has expired: request a new one');
}

type Confirmed = { userId: number; email: string; at: Date };

/** Marks the address as confirmed. Returns false if the account no longer has this address. */
export async function confirmEmail(tx: Tx, { userId, email, at }: Confirmed): Promise<boolean> {
  const { count } = await tx.user.updateMany({ where: { id: userId, email }, data: { emailVerifiedAt: at } });
  return count > 0;
}

/** Changes the address of the user. Call it with the user locked. */
async function changeEmail(
  services: MailServices,
  tx: Tx,
  { id: userId, email: before }: LockedUser,
  { email, at }: Omit<Confirmed, 'userId'>,
): Promise<void> {
  await tx.user.updateMany({ where: { id: userId }, data: { email, emailVerifiedAt: at } });
  // A link that was sent to the old address must not give access to the account.
  const ended = ['reset_password', 'change_email', 'verify_email'] as const;
  await endAccountTokens(sqlIn(tx), { userId, address: before }, ended);
  await queueMail(services, sqlIn(tx), { kind: 'email-changed', to: before, data: { newEmail: email } });
}
