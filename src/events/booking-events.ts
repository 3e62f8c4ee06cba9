/**
 * The events about bookings. Only the database knows all of their data, so these are parts of the statements that
 * change a booking, and not functions. `from` is a part with the changed rows of `bookings`, in their new state.
 */
import { secondsOf } from '../db/columns.ts';
import { insertEvent } from './insert-event.ts';

/** `host_id` is the user ID of the current host of the page. The contact and the room must not have changed yet. */
const data = {
  workspace_id: 'b.workspace_id',
  booking_id: 'b.id',
  booking_page_id: 'b.booking_page_id',
  title: 'p.title',
  host_id: 'p.host_id',
  host_name: 'p.host_name',
  contact_id: '(select c.id from contacts c where c.workspace_id = b.workspace_id and c.id = b.contact_id)',
  guest_name: 'b.name',
  guest_email: 'b.email',
  guest_time_zone: 'b.time_zone',
  room_name: '(select r.name from rooms r where r.workspace_id = b.workspace_id and r.id = b.room_id)',
  starts_at: secondsOf('b.starts_at'),
  ends_at: secondsOf('b.ends_at'),
  sequence: 'b.sequence',
  created_at: secondsOf('b.created_at'),
};

/** Looks up each row by its key. The plan of a join may be made while the tables are small, and read all of a table. */
function sourceOf(from: string) {
  return {
    from: `${from} b
    cross join lateral (
      select p.title, p.user_id as host_id, (select u.name from users u where u.id = p.user_id) as host_name
      from booking_pages p where p.workspace_id = b.workspace_id and p.id = b.booking_page_id limit 1) p`,
    at: '$at',
  };
}

/** Emits `booking.created` for each confirmed booking of `from`, at `$at`. */
export function insertBookingCreated(from: string): string {
  const { at, from: source } = sourceOf(from);
  return insertEvent('booking.created', data, { at, from: `${source} where b.confirm_by is null` });
}

/**
 * Emits `booking.rescheduled` for each booking of `from`, at `$at`. The statement has the parameters
 * `previousStartsAt`, `previousEndsAt` and `movedBy`: the user who moved the meeting, or null for the guest.
 */
export function insertBookingRescheduled(from: string): string {
  const previous = {
    previous_starts_at: secondsOf('$previousStartsAt'),
    previous_ends_at: secondsOf('$previousEndsAt'),
  };
  return insertEvent('booking.rescheduled', { ...data, ...previous, rescheduled_by: '$movedBy' }, sourceOf(from));
}

/**
 * Emits `booking.cancelled` for each booking of `from`, at `$at`. The statement has the parameter `cancelledBy`: the
 * user who cancelled the meeting, or null for the guest.
 */
export function insertBookingCancelled(from: string): string {
  const state = { cancelled_at: secondsOf('b.cancelled_at'), cancelled_by: '$cancelledBy' };
  return insertEvent('booking.cancelled', { ...data, ...state }, sourceOf(from));
}
