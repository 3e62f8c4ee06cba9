/** Permissions and locks for every change to a booked meeting. */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace, requireCurrentRole } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { findMeeting, findMeetingByToken, type Meeting } from './find-meeting.ts';

type Db = Pick<Services, 'db'>;

/**
 * Changes a meeting in a transaction with its workspace locked. The host and state of a meeting change only under this
 * lock.
 */
type Change<Result> = (tx: Tx, meeting: Meeting) => Promise<Result>;

/** Changes the meeting that has this token. Throws 404 "Booking not found". */
export async function changeByToken<Result>({ db }: Db, token: string, change: Change<Result>): Promise<Result> {
  const { workspaceId } = await findMeetingByToken(db.sql, token);
  return transact(db, async (tx) => {
    await lockWorkspace(tx, workspaceId, 'Booking');
    return change(tx, await findMeetingByToken(sqlIn(tx), token));
  });
}

/**
 * Changes a meeting of the actor's workspace. The actor must be the host of the meeting, or the owner or an admin of
 * the workspace. Checks the role with the workspace locked. Throws 403 for anyone else, and 404 "Booking not found".
 */
export async function changeByTeam<Result>(
  { db }: Db,
  actor: Actor,
  bookingId: number,
  change: Change<Result>,
): Promise<Result> {
  const { workspaceId, userId } = actor;
  return transact(db, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const meeting = await findMeeting(sqlIn(tx), workspaceId, bookingId);
    await requireCurrentRole(tx, actor, meeting?.hostId === userId ? 'member' : 'admin');
    if (meeting === undefined) throw notFound('Booking');
    return change(tx, meeting);
  });
}

/** Throws 409 if the meeting has started. */
export function requireNotStarted({ startsAt }: Meeting, now: Date): void {
  if (startsAt <= now) throw conflict('The meeting has already started');
}
