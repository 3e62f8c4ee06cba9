/** What every join does, whether the participant enters at once, is admitted, or is reported by a provider. */
import { contactParams, contactParts } from '../contacts/contact-parts.ts';
import { joinedEvents } from './visit-events.ts';

/** The parameters of `beforeJoin`. `at` is when they joined. */
export const joinParams = contactParams;

/**
 * The parts of a statement that come before the part that changes participants. `joining (workspace_id, room_id,
 * room_name, name, address, position)` are those who join a room; `contact` then has the contacts of their addresses.
 *
 * The room's `last_used_at` is shown in whole seconds, and written at most once per second, so that everyone who joins
 * in the same second waits for at most one commit instead of one after another. It is written before the contacts are
 * locked, and never by a transaction that holds the room `for share`: two such transactions would deadlock.
 */
export const beforeJoin = `
  used as (
    update rooms r set last_used_at = $at from (select distinct workspace_id, room_id from joining) j
    where r.workspace_id = j.workspace_id and r.id = j.room_id and r.last_used_at < date_trunc('second', $at)
    returning r.id),
  people as (
    select j.workspace_id, j.address, j.name, j.position from joining j, (select count(*) from used) after_room
    where j.address is not null),
  ${contactParts}`;

/**
 * The parts of a statement that come after the part that changes participants. They select from `changed` (the
 * changed rows) those who have joined, and emit their events.
 */
export const afterJoin = `
  joined as (
    select c.*, j.room_name from changed c, (select room_name from joining limit 1) j where c.status = 'joined'),
  ${joinedEvents}`;
