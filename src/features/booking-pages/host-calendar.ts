/**
 * The calendar of a host: the bookings on all their pages, in all workspaces. An exclusion constraint prevents a new
 * booking from overlapping another booking in the calendar.
 */
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, time } from '../../db/statements.ts';
import { MAX_DURATION } from './schemas.ts';

/** How long a guest has to confirm a booking. */
export const CONFIRM_MS = 30 * MINUTE_MS;

/** How long a host has to approve a booking, where no mail is sent. */
export const APPROVE_MS = DAY_MS;

/**
 * Ends the bookings of a host that were not confirmed in time. Otherwise the constraint would still block their times.
 */
const endUnconfirmedOf = statement('end-unconfirmed-bookings', {
  params: { userId: int, now: time },
  sql: `
    update bookings set cancelled_at = confirm_by
    where user_id = $userId and confirm_by <= $now and cancelled_at is null`,
});

/**
 * SQL condition: whether the booking `booking` holds its time, provided that it is not cancelled. A booking that waits
 * beyond the limit of its host does not, because anyone can cause many of them.
 */
export function holdsTime(booking: string): string {
  return `(${booking}.confirm_by is null or not ${booking}.is_waiting)`;
}

const lockStatement = statement('lock-calendar', {
  params: { userId: int },
  sql: 'select from users where id = $userId for no key update',
});

/**
 * Locks the calendar until the transaction ends, and ends the bookings that were not confirmed in time. Call it with
 * the workspace locked. Without this lock, two bookings for the same time could deadlock in the index of the
 * constraint.
 */
export async function lockCalendar(tx: Tx, userId: number, now: Date): Promise<void> {
  await sqlIn(tx).run(lockStatement, { userId });
  await sqlIn(tx).run(endUnconfirmedOf, { userId, now });
}

const acceptStatement = statement('accept-overlapping-bookings', {
  params: { workspaceId: int, fromUserId: int, toUserId: int },
  sql: `
    with pairs as (
      select p.workspace_id, p.id, o.workspace_id as other_workspace_id, o.id as other_id
      from bookings p
      join bookings o on o.user_id = $toUserId and o.cancelled_at is null
        and ${holdsTime('o')}
        and o.starts_at > p.starts_at - make_interval(mins => ${MAX_DURATION}) and o.starts_at < p.ends_at
        and o.ends_at > p.starts_at
      where p.workspace_id = $workspaceId and p.user_id = $fromUserId and p.cancelled_at is null
        and ${holdsTime('p')}
    )
    update bookings set may_overlap = true
    where (workspace_id, id) in (
      select workspace_id, id from pairs union select other_workspace_id, other_id from pairs
    )`,
});

/**
 * Finds each booking of `fromUserId` in the workspace that overlaps a booking of `toUserId`, and marks both, so that
 * the constraint accepts them. Neither booking is cancelled, because guests rely on it. Call this with the calendar of
 * `toUserId` locked, before the bookings in the workspace pass to that user.
 */
export async function acceptOverlaps(tx: Tx, workspaceId: number, fromUserId: number, toUserId: number): Promise<void> {
  await sqlIn(tx).run(acceptStatement, { workspaceId, fromUserId, toUserId });
}
