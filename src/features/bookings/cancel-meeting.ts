/** Cancels a meeting, for its guest or for the workspace. */
import type { Actor } from '../../auth/identify.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, statement, time } from '../../db/statements.ts';
import { insertBookingCancelled } from '../../events/booking-events.ts';
import type { Services } from '../../services.ts';
import { mailBookings } from '../booking-mails/mail-bookings.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import { deleteUnusedRoom } from '../rooms/booked-room.ts';
import { changeByTeam, changeByToken, requireNotStarted } from './change-meeting.ts';
import type { Meeting } from './find-meeting.ts';
import type { BookingInput, TokenInput } from './schemas.ts';

/** Only the guest knows about an unconfirmed booking, so cancelling it is no event. */
const cancelBooking = statement('cancel-booking', {
  params: { workspaceId: int, bookingId: int, at: time, cancelledBy: nullable(int) },
  sql: `
    with cancelled as (
      update bookings set cancelled_at = $at, sequence = sequence + 1
      where workspace_id = $workspaceId and id = $bookingId returning *)
    ${insertBookingCancelled('(select * from cancelled where confirm_by is null)')}`,
});

type Needs = Pick<Services, 'db' | 'clock' | 'sealer'>;

/**
 * Cancels the meeting that has this token; the slug in the path is ignored. The time becomes available again. Deletes
 * the room unless somebody has joined it, waited to be admitted, or recorded in it. Emits `booking.cancelled`. Does
 * nothing if the meeting is already cancelled. Throws 404 "Booking not found" if no booking has the token, and 409 if
 * the meeting has started.
 */
export async function cancelByToken(services: Needs, { token }: TokenInput): Promise<{ ok: true }> {
  await changeByToken(services, token, (tx, meeting) => cancel(services, tx, meeting, null));
  return { ok: true };
}

/** `userId` is the member who cancels the meeting; null for the guest. Throws 409 if the meeting has started. */
async function cancel(services: Needs, tx: Tx, meeting: Meeting, userId: number | null): Promise<void> {
  const at = services.clock.now();
  const { id, workspaceId, bookingPageId, contactId, roomId, cancelledAt, confirmBy } = meeting;
  if (cancelledAt !== null) return;
  requireNotStarted(meeting, at);
  const sql = sqlIn(tx);
  await sql.run(cancelBooking, { workspaceId, bookingId: id, at, cancelledBy: userId });
  // Only the guest knows about an unconfirmed booking, which has no room.
  if (confirmBy !== null) return;
  if (roomId !== null) await deleteUnusedRoom(tx, { workspaceId, roomId });
  await recordContactEvent(sql, { workspaceId, type: 'booking_cancelled', contactId, roomId: null, bookingPageId, at });
  await mailBookings(services, sql, { workspaceId, bookingIds: [id] }, { change: 'cancelled', at });
}

/**
 * Like `cancelByToken`, but called by a member: the host of the meeting, or the owner or an admin of the workspace.
 * Throws 403 unless the caller is one of these members, 404 "Booking not found", and 409 if the meeting has started.
 */
export async function cancelByTeam(services: Needs, actor: Actor, { bookingId }: BookingInput): Promise<{ ok: true }> {
  await changeByTeam(services, actor, bookingId, (tx, meeting) => cancel(services, tx, meeting, actor.userId));
  return { ok: true };
}
