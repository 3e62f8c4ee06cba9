/** The condition for a time that is booked or to which a meeting moves. It needs the lock of the host's calendar. */
import { MINUTE_MS } from '../../core/time.ts';
import { int, nullable, time } from '../../db/statements.ts';
import { MAX_BUFFER, MAX_DURATION } from '../booking-pages/schemas.ts';
import type { BookablePage } from './bookable-page.ts';
import { boundsOfDay, toLocalDay, toZone } from './local-days.ts';

/** The parameters of `isTaken` and of the columns that store the time. */
export const newTimeParams = {
  startsAt: time,
  endsAt: time,
  bufferBefore: int,
  bufferAfter: int,
  dayStart: time,
  dayEnd: time,
  maxPerDay: nullable(int),
};

/**
 * SQL for a condition: whether the host `$userId` has another meeting within the buffers, or the page `$bookingPageId`
 * of `$workspaceId` has as many meetings on that day as it may have. The gap between two meetings is the buffer after
 * the first or the buffer before the second, whichever is longer. `isOther` is a condition that leaves out a meeting
 * `b`.
 *
 * No constraint expresses this: the longer buffer belongs to neither meeting, and two hosts whose calendars become one
 * may have meetings that are closer. Overlaps without buffers violate the constraint `bookings_one_calendar`.
 */
export function isTaken(isOther = 'true'): string {
  return `(
    exists (
      select from bookings b where b.user_id = $userId and b.cancelled_at is null and ${isOther}
        and b.ends_at + greatest(b.buffer_after, $bufferBefore) * interval '1 minute' > $startsAt
        and b.starts_at - greatest(b.buffer_before, $bufferAfter) * interval '1 minute' < $endsAt
        and b.starts_at > $startsAt - interval '${MAX_DURATION + MAX_BUFFER} minutes'
        and b.starts_at < $endsAt + interval '${MAX_BUFFER} minutes')
    or $maxPerDay is not null and $maxPerDay <= (
      select count(*) from bookings b where b.workspace_id = $workspaceId and b.booking_page_id = $bookingPageId
        and b.cancelled_at is null and b.starts_at >= $dayStart and b.starts_at < $dayEnd and ${isOther}))`;
}

/** The values of `newTimeParams` for a meeting of the page. */
export function toNewTime(page: BookablePage, startsAt: Date) {
  const { duration, timeZone, bufferBefore, bufferAfter, maxPerDay } = page;
  const zone = toZone(timeZone);
  const day = boundsOfDay(zone, toLocalDay(zone, startsAt.getTime()));
  return {
    startsAt,
    endsAt: new Date(startsAt.getTime() + duration * MINUTE_MS),
    bufferBefore,
    bufferAfter,
    dayStart: new Date(day.start),
    dayEnd: new Date(day.end),
    maxPerDay,
  };
}
