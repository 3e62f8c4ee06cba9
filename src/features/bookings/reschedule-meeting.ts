/** Moves a meeting to another time, for its guest or for the workspace. */
import type { Actor } from '../../auth/identify.ts';
import { badField, conflict } from '../../core/errors.ts';
import { fromUnixSeconds, toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { isExclusionViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, nullable, statement, time } from '../../db/statements.ts';
import { insertBookingRescheduled } from '../../events/booking-events.ts';
import type { Services } from '../../services.ts';
import { toReminderTime } from '../booking-mails/booking-mails.ts';
import { mailBookings } from '../booking-mails/mail-bookings.ts';
import { lockCalendar } from '../booking-pages/host-calendar.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import { scheduleRoom } from '../rooms/booked-room.ts';
import { bookingHorizon, findBookablePage } from './bookable-page.ts';
import { changeByTeam, changeByToken, requireNotStarted } from './change-meeting.ts';
import type { Meeting } from './find-meeting.ts';
import { readBooking } from './list-bookings.ts';
import { isTaken, newTimeParams, toNewTime } from './new-time.ts';
import { notAvailable, requireOffered } from './offered-times.ts';
import { toGuestBooking } from './present.ts';
import type { Booking, GuestBooking, RescheduleByTeamInput, RescheduleInput } from './schemas.ts';

type Needs = Pick<Services, 'db' | 'clock' | 'sealer'>;

/** `userId` is the member who moves the meeting; null for the guest. */
type Move = { startsAt: Date; userId: number | null };

/** How many times a meeting can be moved. The limit exists because each move sends mail to the guest and the host. */
const MAX_CHANGES = { guest: 10, team: 50 } as const;

/**
 * If `obeysRules` is true and the time is taken, changes nothing and returns no row. If `obeysRules` is false, only the
 * constraint on the host's calendar applies. A meeting that was allowed to overlap another at its old time is not
 * allowed to overlap at the new time.
 */
const moveMeeting = statement('move-meeting', {
  params: {
    workspaceId: int,
    bookingId: int,
    userId: int,
    bookingPageId: int,
    ...newTimeParams,
    obeysRules: bool,
    previousStartsAt: time,
    previousEndsAt: time,
    movedBy: nullable(int),
    at: time,
    reminderAt: nullable(time),
  },
  returns: { sequence: int },
  sql: `
    with allowed as (select $bookingId as id where not $obeysRules or not ${isTaken('b.id <> $bookingId')}),
    moved as (
      update bookings b set starts_at = $startsAt, ends_at = $endsAt, buffer_before = $bufferBefore,
        buffer_after = $bufferAfter, sequence = b.sequence + 1, may_overlap = false, reminder_at = $reminderAt
      from allowed a where b.workspace_id = $workspaceId and b.id = a.id returning b.*),
    event as (${insertBookingRescheduled('moved')})
    select sequence from moved`,
});

/**
 * Moves the meeting that has this token to another time that its page offers; the slug in the path is ignored. The
 * booking keeps its ID, room and token. Its duration becomes the current duration of the page. Moving it to its current
 * time changes nothing; any other move emits `booking.rescheduled`. If several meetings of a host are moved to the same
 * time, or booked for it, exactly one succeeds.
 *
 * Throws 404 "Booking not found", and 409 if the time is taken or not offered, if the booking is unconfirmed or
 * cancelled, if the meeting has started, or if it has been moved too many times.
 */
export async function rescheduleByToken(
  services: Needs,
  { token, starts_at }: RescheduleInput,
  appUrl: string,
): Promise<GuestBooking> {
  const to: Move = { startsAt: fromUnixSeconds(starts_at), userId: null };
  const moved = await refuseOverlap(() =>
    changeByToken(services, token, (tx, meeting) => move(services, tx, meeting, to)),
  );
  return toGuestBooking(moved, token, appUrl);
}

/** Throws 409 if the time overlaps another meeting of the host. */
async function refuseOverlap<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw isExclusionViolation(error) ? notAvailable() : error;
  }
}

/** Returns the meeting at its new time. Throws 400 or 409. */
async function move(services: Needs, tx: Tx, meeting: Meeting, { startsAt, userId }: Move): Promise<Meeting> {
  const { id: bookingId, workspaceId, bookingPageId, contactId, roomId } = meeting;
  if (meeting.cancelledAt !== null) throw conflict('The booking is cancelled');
  if (meeting.confirmBy !== null)
    throw conflict(
      meeting.awaitsGuest
        ? 'Confirm the booking first, with the link that was sent by mail'
        : 'The host must first approve the booking',
    );
  // The workspace is locked, so the page and its host cannot change.
  const sql = sqlIn(tx);
  const page = await findBookablePage(sql, meeting.slug);
  const at = services.clock.now();
  await lockCalendar(tx, meeting.hostId, at);
  requireNotStarted(meeting, at);
  if (startsAt.getTime() === meeting.startsAt.getTime()) return meeting;
  const obeysRules = userId === null;
  if (meeting.sequence >= (obeysRules ? MAX_CHANGES.guest : MAX_CHANGES.team))
    throw conflict('This meeting has been moved too many times: cancel it and book another one');
  if (obeysRules) requireOffered(page, startsAt, at);
  else requireWithinHorizon(startsAt, at);
  const newTime = toNewTime(page, startsAt);
  const ids = { workspaceId, bookingId, userId: meeting.hostId, bookingPageId };
  const reminderAt = toReminderTime(page, startsAt, at);
  const [moved] = await sql.run(moveMeeting, {
    ...ids,
    ...newTime,
    obeysRules,
    reminderAt,
    previousStartsAt: meeting.startsAt,
    previousEndsAt: meeting.endsAt,
    movedBy: userId,
    at,
  });
  if (!moved) throw notAvailable();
  if (roomId !== null) await scheduleRoom(sql, { workspaceId, roomId }, toUnixSeconds(startsAt));
  await recordContactEvent(sql, {
    workspaceId,
    type: 'booking_rescheduled',
    contactId,
    roomId: null,
    bookingPageId,
    at,
  });
  await mailBookings(services, sql, { workspaceId, bookingIds: [bookingId] }, { change: 'rescheduled', at });
  return { ...meeting, startsAt, endsAt: newTime.endsAt, sequence: moved.sequence };
}

/** Throws 400 if the time has passed or is beyond the booking horizon. */
function requireWithinHorizon(startsAt: Date, now: Date): void {
  if (startsAt <= now || startsAt > bookingHorizon(now))
    throw badField('starts_at', 'starts_at must be within the next 365 days');
}

/**
 * Like `rescheduleByToken`, but called by a member: the host of the meeting, or the owner or an admin of the workspace.
 * They can choose any free time of the host, even if the page does not offer it. Throws 400 for a time in the past or
 * more than 365 days from now, 403 unless the caller is one of these members, and 404 "Booking not found". Throws 409
 * in the same cases as `rescheduleByToken`, except for a time that the page does not offer.
 */
export async function rescheduleByTeam(
  services: Needs,
  actor: Actor,
  { bookingId, starts_at }: RescheduleByTeamInput,
): Promise<Booking> {
  const to: Move = { startsAt: fromUnixSeconds(starts_at), userId: actor.userId };
  return refuseOverlap(() =>
    changeByTeam(services, actor, bookingId, async (tx, meeting) => {
      await move(services, tx, meeting, to);
      return readBooking(sqlIn(tx), actor.workspaceId, bookingId);
    }),
  );
}
