/**
 * The parts that all joins share, whether the participant enters directly, is admitted, or is reported by a provider.
 */
import { contactParams, contactParts } from '../contacts/contact-parts.ts';
import { joinedEvents } from './visit-events.ts';

/** The parameters of `beforeJoin`. `at` is the time of the join. */
export const joinParams = contactParams;

/**
 * The parts of a statement that come before the part that changes participants. They need a part `joining
 * (workspace_id, room_id, room_name, name, address, position)` with the people who are joining, and define `contact`
 * with the contacts of these people.
 *
 * The room's `last_used_at` is shown in whole seconds and written at most once per second. People who join in the same
 * second therefore wait for at most one commit. The column is written before the contacts are locked, and never by a
 * transaction that holds the room `for share`, because two of these transactions would deadlock.
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
 * The parts of a statement that come after the part that changes participants. From the changed rows (`changed`), they
 * select the participants who have joined, and emit their events.
 */
export const afterJoin = `
  joined as (
    select c.*, j.room_name from changed c, (select room_name from joining limit 1) j where c.status = 'joined'),
  ${joinedEvents}`;
