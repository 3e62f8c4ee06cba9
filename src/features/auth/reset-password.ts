/** Resets a forgotten password. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { createAccountToken, endAccountTokens, findAccountToken, takeAccountToken } from '../../auth/account-tokens.ts';
import type { Requester } from '../../auth/passwords.ts';
import { lockWorkspacesOf } from '../../auth/workspace-lock.ts';
import { HOUR_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import { linkTo } from '../../mail/kinds.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import type { EndedAccess, ResetPassword } from './access-schemas.ts';
import { endAccess } from './end-access.ts';
import { endAppsOf } from './end-apps.ts';
import { endBeforeFirstProof } from './first-proof.ts';
import { listAccess } from './lasting-access.ts';
import type { ResetPasswordInput } from './link-schemas.ts';
import type { Client } from './sessions.ts';
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
 * confirmed, because the link was sent to it. Also ends the lasting access of the account, unless `keep_access` is
 * true, but not what other members of a workspace rely on. If the address was never confirmed, ends everything instead,
 * because a stranger may have registered it (`endBeforeFirstProof`). Otherwise the second factor remains. Throws 400 if
 * the link does not work or the account is locked.
 */
export async function resetPassword(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'passwords'>,
  { token, password, keep_access: keepAccess = false }: ResetPasswordInput,
  { requester, client }: { requester: Requester; client: Client },
): Promise<ResetPassword> {
  const { db, clock, passwords } = services;
  const at = clock.now();
  // Hashing is expensive, so check first that the link works.
  if ((await findAccountToken(db.sql, token, ['reset_password'], at)) === null) throw uselessLink();
  const passwordHash = await passwords.hash(password, requester);
  const reset = () =>
    transact(db, async (tx) => {
      const sql = sqlIn(tx);
      const taken = await takeAccountToken(sql, token, ['reset_password'], at);
      if (taken === null) throw uselessLink();
      const { address } = taken;
      const found = await tx.user.findUnique({
        where: { email: address },
        select: { id: true, emailVerifiedAt: true },
      });
      if (found === null) throw uselessLink();
      const { id: userId } = found;
      // Each locks the workspaces before the update locks the user.
      const proven =
        found.emailVerifiedAt === null ? await endBeforeFirstProof(services, tx, { userId, at, client }) : null;
      if (proven === null) await lockWorkspacesOf(tx, userId);
      const { count } = await tx.user.updateMany({
        where: { id: userId, email: address, lockedAt: null },
        data: { passwordHash },
      });
      if (count === 0) throw uselessLink();
      // Runs after the update, which waits for transactions that are starting a session with the old password.
      await tx.session.deleteMany({ where: { userId } });
      await endAccountTokens(sql, { userId, address });
      const access = proven ?? (keepAccess ? await keepRest(tx, userId, at) : await endOwn(tx, { userId, at, client }));
      const keepsAccess = keepAccess && proven === null;
      await queueMail(services, sql, {
        kind: 'password-changed',
        to: address,
        data: { by: 'reset-link', keepsAccess },
      });
      await recordAccountEvent(tx, { userId, at, action: 'password_reset', ...client });
      return { ok: true as const, ...access };
    });
  return allowLongStatements(reset);
}

/** Connected apps end with any change of the password. */
async function keepRest(tx: Tx, userId: number, at: Date): Promise<EndedAccess> {
  const ended = await endAppsOf(tx, userId, at, { kind: 'system' });
  return { ended, remaining: (await listAccess(sqlIn(tx), userId, at)).total };
}

function endOwn(tx: Tx, whose: { userId: number; at: Date; client: Client }): Promise<EndedAccess> {
  return endAccess(tx, { ...whose, actor: { kind: 'system' }, scope: 'own' });
}
