/** Resets a forgotten password. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { createAccountToken, endAccountTokens, findAccountToken, takeAccountToken } from '../../auth/account-tokens.ts';
import type { Requester } from '../../auth/passwords.ts';
import { HOUR_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { linkTo } from '../../mail/kinds.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import { lockWorkspacesWithKeysOf, revokeKeysOf } from './account.ts';
import type { ResetPasswordInput } from './link-schemas.ts';
import type { Client } from './sessions.ts';
import { lockUser, removeSignInMethods } from './sign-in-methods.ts';
import { uselessLink } from './verify-email.ts';

/**
 * Sends a link that sets a new password, if an account has the address. Neither the response nor its timing reveals
 * whether one does: this function queues a message with a token for every address, and the worker drops messages to
 * addresses without an account.
 */
export async function requestPasswordReset(
  services: Pick<Services, 'db' | 'clock' | 'sealer'>,
  { email }: { email: string },
): Promise<{ ok: true }> {
  const now = services.clock.now();
  const expiresAt = new Date(now.getTime() + HOUR_MS);
  await transact(services.db, async (tx) => {
    const sql = sqlIn(tx);
    const reset = { purpose: 'reset_password', userId: null, address: email } as const;
    const token = await createAccountToken(sql, reset, { now, expiresAt });
    if (token === null) return;
    const data = { link: linkTo('/reset-password', token) };
    await queueMail(services, sql, { kind: 'reset-password', to: email, data, needsAccount: true });
  });
  return { ok: true };
}

/**
 * Sets a new password with a link, and ends all sessions and other links of the account. The address then counts as
 * confirmed, because the link was sent to it. If it was already confirmed, API keys, passkeys, linked accounts and the
 * second factor remain. Otherwise they are removed too, because a stranger may have registered the address. Throws 400
 * if the link does not work or the account is locked.
 */
export async function resetPassword(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'passwords'>,
  { token, password }: ResetPasswordInput,
  { requester, client }: { requester: Requester; client: Client },
): Promise<{ ok: true }> {
  const { db, clock, passwords } = services;
  const at = clock.now();
  // Hashing is expensive, so check first that the link works.
  if ((await findAccountToken(db.sql, token, ['reset_password'], at)) === null) throw uselessLink();
  const passwordHash = await passwords.hash(password, requester);
  await transact(db, async (tx) => {
    const sql = sqlIn(tx);
    const taken = await takeAccountToken(sql, token, ['reset_password'], at);
    if (taken === null) throw uselessLink();
    const { address } = taken;
    const found = await tx.user.findUnique({ where: { email: address }, select: { id: true, emailVerifiedAt: true } });
    if (found !== null && found.emailVerifiedAt === null) await endUnprovenAccess(tx, found.id, at);
    const [user] = await tx.$queryRaw<{ id: number }[]>`
      update users set password_hash = ${passwordHash}, email_verified_at = coalesce(email_verified_at, ${at})
      where email = ${address} and locked_at is null returning id`;
    if (user === undefined || user.id !== found?.id) throw uselessLink();
    // Runs after the update, which waits for transactions that are starting a session with the old password.
    await tx.session.deleteMany({ where: { userId: user.id } });
    await endAccountTokens(sql, { userId: user.id, address });
    await queueMail(services, sql, { kind: 'password-changed', to: address, data: { by: 'reset-link' } });
    await recordAccountEvent(tx, { userId: user.id, at, action: 'password_reset', ...client });
  });
  return { ok: true };
}

/**
 * Revokes the API keys and removes the passkeys, linked accounts and second factor of an account whose address was
 * never confirmed: the person who registered it may not own the address. Does nothing if the address has just been
 * confirmed. Like other changes to API keys, this locks the workspaces before the user.
 */
async function endUnprovenAccess(tx: Tx, userId: number, at: Date): Promise<void> {
  await lockWorkspacesWithKeysOf(tx, userId);
  const { emailVerifiedAt } = await lockUser(tx, userId);
  if (emailVerifiedAt !== null) return;
  await revokeKeysOf(tx, userId, at, { kind: 'system' });
  await removeSignInMethods(tx, userId);
}
