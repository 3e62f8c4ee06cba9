/** Confirming that an email address belongs to the user of an account. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { createAccountToken, endAccountTokens, takeAccountToken } from '../../auth/account-tokens.ts';
import type { Caller } from '../../auth/identify.ts';
import { type AppError, badField, conflict, tooManyRequests } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Sql } from '../../db/statements.ts';
import { linkTo } from '../../mail/kinds.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import type { SessionCall } from './own-sessions.ts';
import { lockSessionUser } from './session-user.ts';
import type { Client } from './sessions.ts';

type MailServices = Pick<Services, 'db' | 'clock' | 'sealer'>;

const RETRY_SECONDS = HOUR_MS / SECOND_MS;

/**
 * Sends the link to confirm an address. Returns false if too many were sent. For a new address, only those of the user
 * count: whether others have had mail sent to it is not told.
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
  // A link that is not sent does not count.
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
 * Sends a link to a new address, which becomes that of the account when it is used. The response is the same if another
 * account has the address. Throws 400 if it is the present one, 401 SIGN_IN_EXPIRED if the session has ended, and 429
 * after a few requests.
 */
export async function requestEmailChange(
  services: MailServices & Pick<Services, 'settings'>,
  { sessionId, client }: Pick<SessionCall, 'sessionId' | 'client'>,
  { email }: { email: string },
): Promise<{ ok: true }> {
  await transact(services.db, async (tx) => {
    // Runs first: a change of the password ends all links that exist by then, and one that is created after it needs a
    // session that it has not ended.
    const { id: userId, email: present } = await lockSessionUser(services, tx, sessionId);
    if (email === present) throw badField('email', 'email is already the address of the account');
    if (!(await sendVerification(services, sqlIn(tx), { purpose: 'change_email', userId, email })))
      throw tooManyLinks();
    await recordAccountEvent(tx, { userId, at: services.clock.now(), action: 'email_change_requested', ...client });
  });
  return { ok: true };
}

function tooManyLinks(): AppError {
  return tooManyRequests('Too many messages were sent to this address: try again later', RETRY_SECONDS);
}

/**
 * Confirms the address that a link was sent to. If the link was for a new address, the account now has it, and the old
 * one gets a notice. Throws 400 for a link that does not work, and 409 if another account has the address.
 */
export async function verifyEmail(
  services: MailServices,
  { token }: { token: string },
  client: Client,
): Promise<{ email: string }> {
  const { db, clock } = services;
  const at = clock.now();
  try {
    return await transact(db, async (tx) => {
      const taken = await takeAccountToken(sqlIn(tx), token, ['verify_email', 'change_email'], at);
      if (taken === null || taken.userId === null) throw uselessLink();
      const { userId, address: email, purpose } = taken;
      const isChange = purpose === 'change_email';
      const isDone = isChange
        ? await changeEmail(services, tx, { userId, email, at })
        : await confirmEmail(tx, { userId, email, at });
      if (!isDone) throw uselessLink();
      await recordAccountEvent(tx, { userId, at, action: isChange ? 'email_changed' : 'email_verified', ...client });
      return { email };
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict('An account with this email address already exists');
    throw error;
  }
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

async function changeEmail(services: MailServices, tx: Tx, { userId, email, at }: Confirmed): Promise<boolean> {
  const [user] = await tx.$queryRaw<{ email: string }[]>`
    select email from users where id = ${userId} and locked_at is null for no key update`;
  if (!user) return false;
  await tx.user.updateMany({ where: { id: userId }, data: { email, emailVerifiedAt: at } });
  // Somebody who reads mail at the old address can no longer take over the account.
  const purposes = ['reset_password', 'change_email', 'verify_email'] as const;
  await endAccountTokens(sqlIn(tx), { userId, address: user.email }, purposes);
  await queueMail(services, sqlIn(tx), { kind: 'email-changed', to: user.email, data: { newEmail: email } });
  return true;
}
