/** Confirms a booking with the link that the guest received by mail, or as its host. */
import type { Actor } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict, notFound, tooManyTries } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isExclusionViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import { insertBookingCreated } from '../../events/booking-events.ts';
import { requireFreeRoom } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { bookingTokenSeal, toReminderTime } from '../booking-mails/booking-mails.ts';
import { mailBookings } from '../booking-mails/mail-bookings.ts';
import { lockCalendar } from '../booking-pages/host-calendar.ts';
import { addContactOfBooking } from '../contacts/add-contact.ts';
import { toContactAddress } from '../contacts/contact-address.ts';
import { addRoom } from '../rooms/insert-room.ts';
import { generateLongRoomName } from '../rooms/suggest-room-name.ts';
import { findBookablePage } from './bookable-page.ts';
import { changeByTeam } from './change-meeting.ts';
import { findMeeting, type Meeting } from './find-meeting.ts';
import { readBooking } from './list-bookings.ts';
import { toNewRoom } from './new-room.ts';
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
 * Gives the booking the room of this name and the contact with this address, and emits `booking.created`. Run it with
 * the workspace and the calendar locked.
 */
const confirmBooking = statement('confirm-booking', {
  params: {
    workspaceId: int,
    bookingId: int,
    roomName: text,
    address: nullable(text),
    reminderAt: nullable(time),
    at: time,
  },
  sql: `
    with confirmed as (
      update bookings set confirm_by = null, reminder_at = $reminderAt,
        room_id = (select r.id from rooms r where r.workspace_id = $workspaceId and r.name = $roomName),
        contact_id = (select c.id from contacts c where c.workspace_id = $workspaceId and c.email = $address)
      where workspace_id = $workspaceId and id = $bookingId returning *)
    ${insertBookingCreated('confirmed')}`,
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
  return (await findMeeting(sql, workspaceId, bookingId)) ?? meeting;
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

async function confirm(services: Needs, sql: Sql, meeting: Meeting, at: Date): Promise<void> {
  const { workspaceId, id: bookingId, bookingPageId, hostId, hostName, title, name, startsAt } = meeting;
  const { quotas } = services.settings;
  const roomName = generateLongRoomName();
  const address = toContactAddress(meeting.email);
  const page = { workspaceId, userId: hostId, userName: hostName, title };
  await requireFreeRoom(sql, quotas, workspaceId);
  const roomId = await addRoom(sql, toNewRoom({ page, guestName: name, startsAt, roomName, at }));
  const hasContact = await addContactOfBooking(sql, quotas, { workspaceId, name, address, bookingPageId, at });
  if (roomId === null || !hasContact) throw new ChangedError();
  const reminderAt = toReminderTime(meeting, startsAt, at);
  await sql.run(confirmBooking, { workspaceId, bookingId, roomName, address, reminderAt, at });
  await mailBookings(services, sql, { workspaceId, bookingIds: [bookingId] }, { change: 'booked', at });
}
