/** The settings of a room that keep people out: `max_participants` and `members_only`. */
import { membersOnly, roomFull } from '../../core/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, int, nullable, type Sql, statement } from '../../db/statements.ts';
import { isHostParticipant, type ParticipantKey } from './participant-record.ts';
import { isMember } from './room-access.ts';

type RoomKey = Omit<ParticipantKey, 'id'>;

const freePlaces = statement('count-free-places', {
  params: { workspaceId: int, roomId: int },
  returns: { free: nullable(int) },
  sql: 'select count_free_places($workspaceId, $roomId) as free',
});

const entryOf = statement('check-entry-of-waiting', {
  params: { workspaceId: int, roomId: int, id: int },
  returns: { isForMembers: bool, isHost: bool, isExpected: bool, maxParticipants: nullable(int) },
  sql: `
    select r.members_only as "isForMembers",
      ${isHostParticipant('p')} as "isHost", (${isMember} or p.pass_id is not null) as "isExpected",
      r.max_participants as "maxParticipants"
    from participants p join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
    left join members m on m.workspace_id = p.workspace_id and m.user_id = p.user_id
    where p.workspace_id = $workspaceId and p.room_id = $roomId and p.id = $id`,
});

const refuseOthers = statement('refuse-waiting-who-are-no-members', {
  params: { workspaceId: int, roomId: int },
  sql: `
    update participants p set status = 'refused'
    where p.workspace_id = $workspaceId and p.room_id = $roomId and p.status = 'waiting'
      and p.pass_id is null and not exists (
        select from members m where m.workspace_id = p.workspace_id and m.user_id = p.user_id)`,
});

/**
 * Returns how many more people can enter the room; null without a limit. Joins and admissions of a room with a limit
 * then wait until the transaction ends, so the number stays true until the commit.
 */
export async function countFreePlaces(sql: Sql, { workspaceId, roomId }: RoomKey): Promise<number | null> {
  return onlyRow(await sql.run(freePlaces, { workspaceId, roomId })).free;
}

/**
 * Throws unless a waiting participant, whose row is locked, can be admitted: 403 MEMBERS_ONLY if the room is only for
 * members and they are neither one nor have a pass, and 409 ROOM_FULL if as many people as the room can hold are in it.
 * Hosts always enter.
 */
export async function requireEntry(sql: Sql, key: ParticipantKey): Promise<void> {
  const { workspaceId, roomId, id } = key;
  const { isForMembers, isHost, isExpected, maxParticipants } = onlyRow(
    await sql.run(entryOf, { workspaceId, roomId, id }),
  );
  if (isForMembers && !isHost && !isExpected) throw membersOnly();
  if (maxParticipants === null || isHost) return;
  const free = await countFreePlaces(sql, key);
  if (free !== null && free < 1) throw roomFull(maxParticipants);
}

/** Refuses everyone who is waiting in the room, is no member of its workspace and has no pass. */
export async function refuseWaitingOthers(sql: Sql, { workspaceId, roomId }: RoomKey): Promise<void> {
  await sql.run(refuseOthers, { workspaceId, roomId });
}
