/** The user of a session, for what was started in it and is completed in another request. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { AppError } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import type { Client, SignInMethod } from './sessions.ts';
import { type LockedUser, lockUser } from './sign-in-methods.ts';

/** Locks and returns the user of a session. Throws 401 SIGN_IN_EXPIRED if the session has ended. */
export async function lockSessionUser(
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  tx: Tx,
  sessionId: number,
): Promise<LockedUser> {
  const now = clock.now();
  const usedSince = new Date(now.getTime() - settings.sessionIdleDays * DAY_MS);
  const where = { id: sessionId, expiresAt: { gt: now }, lastUsedAt: { gt: usedSince } };
  const session = await tx.session.findFirst({ where, select: { userId: true } });
  if (session === null) throw sessionEnded();
  const user = await lockUser(tx, session.userId);
  // Checked again: the session may have been ended before the lock.
  if (user.lockedAt !== null || (await tx.session.count({ where })) === 0) throw sessionEnded();
  return user;
}

/** Makes the sign-in of a session recent, after its user has proved who they are again. */
export async function renewSignIn(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { sessionId, userId, method, client }: { sessionId: number; userId: number; method: SignInMethod; client: Client },
): Promise<void> {
  const at = clock.now();
  const { count } = await tx.session.updateMany({ where: { id: sessionId, userId }, data: { authenticatedAt: at } });
  if (count === 0) throw sessionEnded();
  await recordAccountEvent(tx, { userId, at, action: 'reauthenticated', ...client, details: { method } });
}

function sessionEnded(): AppError {
  return new AppError('SIGN_IN_EXPIRED', 'The session has ended: sign in again');
}
