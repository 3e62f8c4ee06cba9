/** Parts of statements that emit `room.joined` and `room.left`, and add the contact events that analytics counts. */
import { secondsOf } from '../../db/columns.ts';
import { insertEvent } from '../../events/insert-event.ts';

/** The data of a `room.joined` event for the participant `v`. `v.room_name` is the name of the room. */
const joinedData = {
  workspace_id: 'v.workspace_id',
  room_id: 'v.room_id',
  room_name: 'v.room_name',
  participant_id: 'v.id',
  participant_name: 'v.name',
  user_id: 'v.user_id',
  contact_id: 'v.contact_id',
  external_id: 'v.external_id',
  metadata: 'v.metadata',
  joined_at: secondsOf('v.joined_at'),
};

/** Emits `room.joined`, and adds a contact event, for each participant in `joined`. */
export const joinedEvents = `
  joined_events as (${insertJoinedEvents('joined', 'v.joined_at')}),
  joined_contact_events as (
    insert into contact_events (workspace_id, type, contact_id, room_id, created_at)
    select v.workspace_id, 'room_join', v.contact_id, v.room_id, v.joined_at
    from joined v order by v.created_at, v.id)`;

/** Inserts `room.joined`, at the time `at`, for each participant in the part `from`. */
export function insertJoinedEvents(from: string, at: string): string {
  return insertEvent('room.joined', joinedData, { from: `${from} v order by v.created_at, v.id`, at });
}

/** Inserts `room.left`, at the time `at`, for each participant in `gone` who had joined. */
export function insertLeftEvents(at: string): string {
  const data = { ...joinedData, left_at: secondsOf('v.left_at') };
  return insertEvent('room.left', data, {
    from: 'gone v where v.joined_at is not null order by v.created_at, v.id',
    at,
  });
}
