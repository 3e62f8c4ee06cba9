/** Ends upcoming bookings when their room or workspace is deleted. */
import { int, nullable, type Sql, statement, time } from '../../db/statements.ts';
import { insertBookingCancelled } from '../../events/booking-events.ts';
import type { Services } from '../../services.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import { mailBookings } from './mail-bookings.ts';

type Needs = Pick<Services, 'sealer' | 'clock'>;

/** A room has at most one booking. */
const cancelOfRoom = statement('cancel-booking-of-room', {
  params: { workspaceId: int, roomId: int, at: time, cancelledBy: nullable(int) },
  returns: { id: int, contactId: nullable(int), bookingPageId: int },
  sql: `
    with cancelled as (
      update bookings set cancelled_at = $at, sequence = sequence + 1
      where workspace_id = $workspaceId and room_id = $roomId and cancelled_at is null and starts_at > $at
      returning *),
    event as (${insertBookingCancelled('cancelled')})
    select id, contact_id as "contactId", booking_page_id as "bookingPageId" from cancelled`,
});

const endOfWorkspace = statement('end-bookings-of-workspace', {
  params: { workspaceId: int, at: time },
  returns: { id: int },
  sql: `
    update bookings set sequence = sequence + 1
    where workspace_id = $workspaceId and cancelled_at is null and confirm_by is null and starts_at > $at
    returning id`,
});

/**
 * Cancels the upcoming booking of a room that a user is about to delete, and emits `booking.cancelled`. Returns whether
 * there was one. Call it with the workspace locked.
 */
export async function cancelBookingOfRoom(
  services: Needs,
  sql: Sql,
  { workspaceId, roomId, userId, at }: { workspaceId: number; roomId: number; userId: number; at: Date },
): Promise<boolean> {
  const [cancelled] = await sql.run(cancelOfRoom, { workspaceId, roomId, at, cancelledBy: userId });
  if (!cancelled) return false;
  const { id: bookingId, contactId, bookingPageId } = cancelled;
  await recordContactEvent(sql, {
    workspaceId,
    type: 'booking_cancelled',
    contactId,
    roomId: null,
    bookingPageId,
    at,
  });
  await mailBookings(services, sql, { workspaceId, bookingIds: [bookingId] }, { change: 'cancelled', at });
  return true;
}

/**
 * Notifies guests and hosts that the upcoming bookings of a workspace are cancelled. Call it before the workspace is
 * deleted.
 */
export async function mailEndOfWorkspace(services: Needs, sql: Sql, workspaceId: number, at: Date): Promise<void> {
  const bookings = await sql.run(endOfWorkspace, { workspaceId, at });
  const which = { workspaceId, bookingIds: bookings.map(({ id }) => id) };
  await mailBookings(services, sql, which, { change: 'cancelled', at, hasPage: false });
}
