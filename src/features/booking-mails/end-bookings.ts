/** Ends upcoming bookings when their room or workspace is deleted. */
import { toUnixSeconds } from '../../core/time.ts';
import { secondsOf } from '../../db/columns.ts';
import { float, int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { mailBookings } from './mail-bookings.ts';

type Needs = Pick<Services, 'sealer' | 'clock'>;

/** A room has at most one booking. */
const cancelOfRoom = statement('cancel-booking-of-room', {
  params: { workspaceId: int, roomId: int, at: time },
  returns: {
    booking_id: int,
    booking_page_id: int,
    contact_id: nullable(int),
    title: text,
    host_id: int,
    host_name: text,
    guest_name: text,
    guest_email: text,
    guest_time_zone: nullable(text),
    starts_at: float,
    ends_at: float,
    sequence: int,
    created_at: float,
  },
  sql: `
    with cancelled as (
      update bookings set cancelled_at = $at, sequence = sequence + 1
      where workspace_id = $workspaceId and room_id = $roomId and cancelled_at is null and starts_at > $at
      returning *),
    contact_event as (
      insert into contact_events (workspace_id, type, contact_id, booking_page_id, created_at)
      select $workspaceId, 'booking_cancelled', contact_id, booking_page_id, $at from cancelled)
    select b.id as booking_id, b.booking_page_id, b.contact_id, p.title, b.user_id as host_id, u.name as host_name,
      b.name as guest_name, b.email as guest_email, b.time_zone as guest_time_zone,
      ${secondsOf('b.starts_at')} as starts_at, ${secondsOf('b.ends_at')} as ends_at, b.sequence,
      ${secondsOf('b.created_at')} as created_at
    from cancelled b join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
    join users u on u.id = b.user_id`,
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
 * Cancels the upcoming booking of a room that a user is about to delete, and emits `booking.cancelled`. Call it with
 * the workspace locked.
 */
export async function cancelBookingOfRoom(
  services: Needs,
  sql: Sql,
  { at, ...room }: { workspaceId: number; roomId: number; roomName: string; userId: number; at: Date },
): Promise<void> {
  const { workspaceId, roomId, roomName, userId } = room;
  const [cancelled] = await sql.run(cancelOfRoom, { workspaceId, roomId, at });
  if (!cancelled) return;
  const state = { workspace_id: workspaceId, room_name: roomName, cancelled_at: toUnixSeconds(at) };
  await emit(sql, at, {
    type: 'booking.cancelled',
    workspaceId,
    data: { ...cancelled, ...state, cancelled_by: userId },
  });
  const which = { workspaceId, bookingIds: [cancelled.booking_id] };
  await mailBookings(services, sql, which, { change: 'cancelled', at });
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
