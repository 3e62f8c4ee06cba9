/** Cancels a meeting, for its guest or for the workspace. */
import type { Actor } from '../../auth/identify.ts';
import { lockRoomRow } from '../../auth/room-lock.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { mailBookings } from '../booking-mails/mail-bookings.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import { toBookingData } from './booking-events.ts';
import { changeByTeam, changeByToken, requireNotStarted } from './change-meeting.ts';
import type { Meeting } from './find-meeting.ts';
import type { BookingInput, TokenInput } from './schemas.ts';

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
  const data = { cancelledAt: at, sequence: { increment: 1 } };
  await tx.booking.updateMany({ where: { workspaceId, id }, data });
  if (roomId !== null) await deleteUnusedRoom(tx, workspaceId, roomId);
  // Only the guest knows about an unconfirmed booking.
  if (confirmBy !== null) return;
  await recordContactEvent(tx, { workspaceId, type: 'booking_cancelled', contactId, roomId: null, bookingPageId, at });
  const cancelled = { ...toBookingData(meeting), sequence: meeting.sequence + 1, cancelled_at: toUnixSeconds(at) };
  await emit(sqlIn(tx), at, {
    type: 'booking.cancelled',
    workspaceId,
    data: { ...cancelled, cancelled_by: userId },
  });
  await mailBookings(services, sqlIn(tx), { workspaceId, bookingIds: [id] }, { change: 'cancelled', at });
}

const deleteUnused = statement('delete-unused-room', {
  params: { workspaceId: int, roomId: int },
  returns: { id: int },
  sql: `
    delete from rooms r where r.workspace_id = $workspaceId and r.id = $roomId
      and not exists (select from participants p where p.workspace_id = r.workspace_id and p.room_id = r.id)
      and not exists (select from recordings c where c.workspace_id = r.workspace_id and c.room_id = r.id)
    returning r.id`,
});

/**
 * Deletes the room if nobody has ever joined it, waited for it or recorded in it. Otherwise clears its scheduled time.
 */
async function deleteUnusedRoom(tx: Tx, workspaceId: number, roomId: number): Promise<void> {
  // Joining and recording lock the row until they commit. Wait for the lock in a separate statement, because only later
  // statements see what they have written.
  await lockRoomRow(tx, workspaceId, roomId);
  const deleted = await sqlIn(tx).run(deleteUnused, { workspaceId, roomId });
  if (deleted.length === 0)
    await tx.room.updateMany({ where: { workspaceId, id: roomId }, data: { scheduledAt: null } });
}

/**
 * Like `cancelByToken`, but called by a member: the host of the meeting, or the owner or an admin of the workspace.
 * Throws 403 unless the caller is one of these members, 404 "Booking not found", and 409 if the meeting has started.
 */
export async function cancelByTeam(services: Needs, actor: Actor, { bookingId }: BookingInput): Promise<{ ok: true }> {
  await changeByTeam(services, actor, bookingId, (tx, meeting) => cancel(services, tx, meeting, actor.userId));
  return { ok: true };
}
