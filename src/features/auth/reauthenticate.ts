import { recordAccountEvent } from '../../audit/account-events.ts';
import type { Requester } from '../../auth/passwords.ts';
import { badField, unauthorized } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import type { SessionCall } from './own-sessions.ts';
import type { ReauthenticateInput } from './schemas.ts';
import type { SignIn } from './sessions.ts';

/**
 * Verifies the password, and records that the user has just proved who they are in this session. Throws 400 if the
 * password is missing or wrong, and 401 if the session has ended in the meantime.
 */
export async function reauthenticate(
  services: Pick<Services, 'db' | 'clock' | 'passwords'>,
  { caller, sessionId, requester, client }: SessionCall & { requester: Requester },
  { password }: ReauthenticateInput,
): Promise<{ ok: true }> {
  const user = await services.db.user.findUnique({ where: { id: caller.userId }, select: { passwordHash: true } });
  if (user === null) throw unauthorized();
  if (password === undefined) throw badField('password', 'password is required');
  if (!(await services.passwords.isCorrect(password, user.passwordHash, requester)))
    throw badField('password', 'password is wrong');
  const session = { userId: caller.userId, sessionId };
  await transact(services.db, (tx) => renewSignIn(services, tx, session, { ...client, method: 'password' }));
  return { ok: true };
}

/**
 * Records that the user of the session has just proved who they are, in the session and in the log of the account.
 * Throws 401 if the session has ended.
 */
export async function renewSignIn(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { userId, sessionId }: { userId: number; sessionId: number },
  { method, address, userAgent }: SignIn,
): Promise<void> {
  const now = clock.now();
  const renewed = await tx.session.updateMany({ where: { id: sessionId, userId }, data: { authenticatedAt: now } });
  if (renewed.count === 0) throw unauthorized();
  const event = { userId, at: now, action: 'reauthenticated', address, userAgent, details: { method } } as const;
  await recordAccountEvent(tx, event);
}
