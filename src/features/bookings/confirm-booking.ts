/** Confirms a booking with the link that the guest received by mail, or as its host. */
import type { Actor } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict, notFound, tooManyTries } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { countForQuota } from '../../db/counters.ts';
import { isExclusionViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { bookingTokenSeal, toReminderTime } from '../booking-mails/booking-mails.ts';
import { mailBookings } from '../booking-mails/mail-bookings.ts';
import { lockCalendar } from '../booking-pages/host-calendar.ts';
import { contactParams, contactParts, toContactAddress } from '../contacts/contact-parts.ts';
import { roomParams, roomParts, toRoomParams } from '../rooms/create-room.ts';
import { generateLongRoomName } from '../rooms/suggest-room-name.ts';
import { toDisplayName } from './book-meeting.ts';
import { findBookablePage } from './bookable-page.ts';
import { toBookingData } from './booking-events.ts';
import { changeByTeam } from './change-meeting.ts';
import { findMeeting, type Meeting } from './find-meeting.ts';
import { readBooking } from './list-bookings.ts';
import { isTaken, newTimeParams, toNewTime } from './new-time.ts';
import { notAvailable } from './offered-times.ts';
import { toGuestBooking } from './present.ts';
import type { Booking, BookingInput, GuestBooking, TokenInput } from './schemas.ts';

type Needs = Pick<Services, 'db' | 'clock' | 'settings' | 'sealer'>;

type Confirmed = { meeting: Meeting; token: string };

const MAX_TRIES = 10;

const findByConfirmHash = statement('find-booking-to-confirm', {
  params: { confirmHash: bytes },
  returns: {
    workspaceId: int,
    bookingId: int,
    tokenHash: bytes,
    sealedToken: bytes,
  },
  sql: `
    select b.workspace_id as "workspaceId", b.id as "bookingId", b.token_hash as "tokenHash",
      b.sealed_token as "sealedToken"
    from bookings b where b.confirm_hash = $confirmHash`,
});

/**
 * Adds the room, the contact and the contact event, which `insertBooking` does not add for a booking that must be
 * confirmed. Run it with the workspace and the calendar locked. If `id` is null although no quota is reached, roll back
 * and retry.
 */
const confirmBooking = statement('confirm-booking', {
  params: {
    workspaceId: int,
    bookingId: int,
    ...roomParams,
    ...contactParams,
    name: text,
    address: nullable(text),
    reminderAt: nullable(time),
    roomQuota: int,
  },
  returns: { rooms: int, id: nullable(int) },
  sql: `
    with used as (
      select w.id as workspace_id, ${countForQuota('rooms', '$roomQuota')} as rooms
      from workspaces w where w.id = $workspaceId),
    allowed as (select workspace_id from used where $roomQuota = 0 or rooms < $roomQuota),
    ${roomParts},
    people as (
      select r.workspace_id, $address as address, $name as name, 0 as position from room r where $address is not null),
    ${contactParts},
    booking as (
      update bookings b set confirm_by = null, room_id = r.id, contact_id = c.id, reminder_at = $reminderAt
      from room r left join contact c on true
      where b.workspace_id = $workspaceId and b.id = $bookingId and ($address is null or c.address is not null)
      returning b.workspace_id, b.id, b.contact_id, b.booking_page_id),
    contact_event as (
      insert into contact_events (workspace_id, type, contact_id, booking_page_id, created_at)
      select workspace_id, 'booking', contact_id, booking_page_id, $at from booking)
    select coalesce(u.rooms, 0) as rooms, b.id from used u left join booking b on true`,
});

const findTaken = statement('is-time-taken', {
  params: { workspaceId: int, bookingId: int, userId: int, bookingPageId: int, ...newTimeParams },
  returns: { is_taken: bool },
  sql: `select ${isTaken('b.id <> $bookingId')} as is_taken`,
});

const PASSED = 'The time to confirm this booking has passed: book again';

/** Rolls back a transaction that must be retried because the data has changed in the meantime. */
class ChangedError extends Error {}

/**
 * Confirms the booking whose link has this token; the slug in the path is ignored. Creates the room and the contact,
 * and emits the events that a booking without confirmation emits at once. Confirming again changes nothing. Throws 404
 * "Booking not found", and 409 if the time for confirming has passed, if the booking is cancelled, if it waited beyond
 * the limit of its host and its time is taken now, or if the workspace has reached its quota of rooms.
 */
export async function confirmByToken(services: Needs, { token }: TokenInput, appUrl: string): Promise<GuestBooking> {
  if (!isToken('lnm_', token)) throw notFound('Booking');
  const confirmHash = hashToken(token);
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const confirmed = await tryToConfirm(services, confirmHash);
    if (confirmed !== null) return toGuestBooking(confirmed.meeting, confirmed.token, appUrl);
  }
  throw tooManyTries();
}

/**
 * Returns null if the caller must retry, because the generated room name is taken or another transaction has just added
 * the contact.
 */
async function tryToConfirm(services: Needs, confirmHash: Uint8Array): Promise<Confirmed | null> {
  const { db, sealer } = services;
  const { workspaceId } = await findToConfirm(db.sql, confirmHash);
  try {
    return await transact(db, async (tx) => {
      await lockWorkspace(tx, workspaceId, 'Booking');
      const sql = sqlIn(tx);
      const { bookingId, ...found } = await findToConfirm(sql, confirmHash);
      const before = await findMeeting(sql, workspaceId, bookingId);
      if (before === undefined) throw notFound('Booking');
      const meeting = await confirmLocked(services, tx, before, PASSED);
      return { meeting, token: sealer.open(found.sealedToken, bookingTokenSeal(found.tokenHash)) };
    });
  } catch (error) {
    if (error instanceof ChangedError) return null;
    throw isExclusionViolation(error) ? notAvailable() : error;
  }
}

/**
 * Confirms an unconfirmed booking of the actor's workspace, as `confirmByToken` does, for its host or for the owner or
 * an admin of the workspace. Throws 403 for anyone else, 404 "Booking not found", and the 409 of `confirmByToken`.
 */
export async function approveBooking(services: Needs, actor: Actor, { bookingId }: BookingInput): Promise<Booking> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      return await changeByTeam(services, actor, bookingId, async (tx, meeting) => {
        await confirmLocked(services, tx, meeting, 'The time to approve this booking has passed');
        return readBooking(sqlIn(tx), actor.workspaceId, bookingId);
      });
    } catch (error) {
      if (!(error instanceof ChangedError)) throw isExclusionViolation(error) ? notAvailable() : error;
    }
  }
  throw tooManyTries();
}

/** Returns the confirmed meeting. Call it with the workspace locked. `passed` is the error if it is too late. */
async function confirmLocked(services: Needs, tx: Tx, before: Meeting, passed: string): Promise<Meeting> {
  const { workspaceId, id: bookingId } = before;
  const sql = sqlIn(tx);
  const at = services.clock.now();
  // While this transaction waits for the lock, another request that books the same host may end this unconfirmed
  // booking, so read the booking again.
  await lockCalendar(tx, before.hostId, at);
  const meeting = (await findMeeting(sql, workspaceId, bookingId)) ?? before;
  if (meeting.confirmBy !== null && meeting.confirmBy <= at) throw conflict(passed);
  if (meeting.cancelledAt !== null) throw conflict('The booking is cancelled');
  if (meeting.confirmBy === null) return meeting;
  if (meeting.isWaiting) await requireFree(sql, meeting);
  await confirm(services, sql, meeting, at);
  const confirmed = (await findMeeting(sql, workspaceId, bookingId)) ?? meeting;
  await emit(sql, at, { type: 'booking.created', workspaceId, data: toBookingData(confirmed) });
  return confirmed;
}

/** Throws 409 if the time, which the booking did not hold, is no longer available. */
async function requireFree(sql: Sql, meeting: Meeting): Promise<void> {
  const { workspaceId, id: bookingId, hostId: userId, bookingPageId, slug, startsAt, endsAt } = meeting;
  const page = await findBookablePage(sql, slug);
  const values = { workspaceId, bookingId, userId, bookingPageId, ...toNewTime(page, startsAt), endsAt };
  if (onlyRow(await sql.run(findTaken, values)).is_taken) throw notAvailable();
}

async function findToConfirm(sql: Sql, confirmHash: Uint8Array) {
  const [found] = await sql.run(findByConfirmHash, { confirmHash });
  if (!found) throw notFound('Booking');
  return found;
}

async function confirm(
  services: Needs,
  sql: Sql,
  { workspaceId, id: bookingId, hostId, hostName, title, name, email, startsAt, reminderMinutes }: Meeting,
  at: Date,
): Promise<void> {
  const { quotas } = services.settings;
  const roomSettings = {
    waiting_room_enabled: 1,
    scheduled_at: toUnixSeconds(startsAt),
    display_name: toDisplayName(title, name),
  } as const;
  const values = {
    workspaceId,
    bookingId,
    ...toRoomParams({ userId: hostId, name: hostName }, roomSettings, at),
    roomName: generateLongRoomName(),
    at,
    contactQuota: quotas.contacts,
    name,
    address: toContactAddress(email),
    reminderAt: toReminderTime({ reminderMinutes }, startsAt, at),
    roomQuota: quotas.rooms,
  };
  const { rooms, id } = onlyRow(await sql.run(confirmBooking, values));
  requireWithinQuota(quotas, 'rooms', rooms + 1);
  if (id === null) throw new ChangedError();
  await mailBookings(services, sql, { workspaceId, bookingIds: [bookingId] }, { change: 'booked', at });
}
