/**
 * The user of a session, for actions that are started by one request and completed by a later request in the same
 * session.
 */
import { idleSince } from '../../auth/identify.ts';
import { AppError } from '../../core/errors.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { type LockedUser, lockUser } from './sign-in-methods.ts';

const lockSession = statement('lock-session', {
  params: { sessionId: int, now: time, usedSince: time },
  returns: { id: int },
  sql: `
    select id from sessions where id = $sessionId and expires_at > $now and last_used_at > $usedSince
    for key share`,
});

/** Locks a session and its user, and returns the user. Throws 401 SIGN_IN_EXPIRED if the session has ended. */
export async function lockSessionUser(
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  tx: Tx,
  sessionId: number,
): Promise<LockedUser> {
  const now = clock.now();
  const usedSince = idleSince(settings, now);
  const where = { id: sessionId, expiresAt: { gt: now }, lastUsedAt: { gt: usedSince } };
  const session = await tx.session.findFirst({ where, select: { userId: true } });
  if (session === null) throw sessionEnded();
  const user = await lockUser(tx, session.userId);
  // Check again, because the session may have ended before the lock. From here on, ending it waits for the commit.
  const rows = await sqlIn(tx).run(lockSession, { sessionId, now, usedSince });
  if (user.lockedAt !== null || rows.length === 0) throw sessionEnded();
  return user;
}

/** The 401 for a session that ended while the call ran. */
export function sessionEnded(): AppError {
  return new AppError('SIGN_IN_EXPIRED', 'The session has ended: sign in again');
}
