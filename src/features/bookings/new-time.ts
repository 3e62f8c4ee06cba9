/** The condition that a new time of a meeting must meet. Check it with the host's calendar locked. */

import { boundsOfDay, toLocalDay, toZone } from '../../core/local-days.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { int, nullable, time } from '../../db/statements.ts';
import { holdsTime } from '../booking-pages/host-calendar.ts';
import { MAX_BUFFER, MAX_DURATION } from '../booking-pages/schemas.ts';
import type { BookablePage } from './bookable-page.ts';

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
 * SQL condition: whether the host `$userId` has another meeting within the buffers, or the page `$bookingPageId` of
 * `$workspaceId` has reached its limit of meetings on that day. The gap between two meetings is the buffer after the
 * first or the buffer before the second, whichever is longer. `isOther` is a condition on a meeting `b`; meetings that
 * do not match it are ignored.
 *
 * A constraint cannot express this, because the gap depends on both meetings, and merging the calendars of two hosts
 * can leave smaller gaps. Meetings that overlap even without buffers violate the constraint `bookings_one_calendar`.
 */
export function isTaken(isOther = 'true'): string {
  return `(
    exists (
      select from bookings b where b.user_id = $userId and b.cancelled_at is null and ${holdsTime('b')} and ${isOther}
        and b.ends_at + greatest(b.buffer_after, $bufferBefore) * interval '1 minute' > $startsAt
        and b.starts_at - greatest(b.buffer_before, $bufferAfter) * interval '1 minute' < $endsAt
        and b.starts_at > $startsAt - interval '${MAX_DURATION + MAX_BUFFER} minutes'
        and b.starts_at < $endsAt + interval '${MAX_BUFFER} minutes')
    or $maxPerDay is not null and $maxPerDay <= (
      select count(*) from bookings b where b.workspace_id = $workspaceId and b.booking_page_id = $bookingPageId
        and b.cancelled_at is null and ${holdsTime('b')} and b.starts_at >= $dayStart and b.starts_at < $dayEnd
        and ${isOther}))`;
}

/** Returns the values of `newTimeParams`. The day matters only if the page has a maximum for each day. */
export function toNewTime(page: BookablePage, startsAt: Date) {
  const { duration, timeZone, bufferBefore, bufferAfter, maxPerDay } = page;
  const endsAt = new Date(startsAt.getTime() + duration * MINUTE_MS);
  const time = { startsAt, endsAt, bufferBefore, bufferAfter, maxPerDay };
  if (maxPerDay === null) return { ...time, dayStart: startsAt, dayEnd: endsAt };
  const zone = toZone(timeZone);
  const day = boundsOfDay(zone, toLocalDay(zone, startsAt.getTime()));
  return { ...time, dayStart: new Date(day.start), dayEnd: new Date(day.end) };
}
