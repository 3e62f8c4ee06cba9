/** What participants may do with recordings of their room. Call these functions with the workspace locked. */
import type { RoomCaller } from '../../auth/participants.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, int, nullable, oneOf, type Sql, statement, time } from '../../db/statements.ts';
import type { Recorders } from '../rooms/schemas.ts';
import type { RecordingInput } from './schemas.ts';
import { UNFINISHED_STATUSES } from './unfinished-statuses.ts';

/** Whether the participant `p` of the room `r` is one of its hosts, and a member of its workspace. */
const standing = `
      coalesce(r.user_id = p.user_id or m.role in ('owner', 'admin'), false)
        or is_pass_host(p.workspace_id, p.pass_id, $now) as "isHost",
      m.role is not null as "isMember"`;
const tables = `
    participants p
    join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
    left join members m on m.workspace_id = p.workspace_id and m.user_id = p.user_id`;

const recorderRights = statement('read-recorder-rights', {
  params: { workspaceId: int, id: int, now: time },
  returns: { whoMayRecord: oneOf<Recorders>(), isHost: bool, isMember: bool, mayRecord: nullable(bool) },
  sql: `
    select r.who_may_record as "whoMayRecord", ${standing}, (
      select q.may_record from room_passes q where q.workspace_id = p.workspace_id and q.id = p.pass_id) as "mayRecord"
    from ${tables} where p.workspace_id = $workspaceId and p.id = $id`,
});

const stopRights = statement('read-rights-to-stop', {
  params: { workspaceId: int, roomId: int, id: int, recordingId: int, now: time },
  returns: { isHost: bool, isMember: bool, isRunning: bool, isStarter: bool },
  // A person who has joined again is another participant, of the same user or with the same first visit.
  sql: `
    select ${standing}, c.ended_at is null and c.status in (${UNFINISHED_STATUSES}) as "isRunning",
      coalesce(s.id = p.id or s.user_id = p.user_id
        or coalesce(s.first_visit_id, s.id) = coalesce(p.first_visit_id, p.id), false) as "isStarter"
    from ${tables}
    join recordings c on c.workspace_id = p.workspace_id and c.room_id = p.room_id and c.id = $recordingId
    left join participants s on s.workspace_id = c.workspace_id and s.id = c.started_by
    where p.workspace_id = $workspaceId and p.room_id = $roomId and p.id = $id`,
});

/**
 * The condition that a guest started the recording `c`: a participant who is neither a member of the workspace nor the
 * user of the room.
 */
export const isStartedByGuest = `exists (
        select from participants p
        join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
        left join members m on m.workspace_id = p.workspace_id and m.user_id = p.user_id
        where p.workspace_id = c.workspace_id and p.id = c.started_by and m.role is null
          and r.user_id is distinct from p.user_id)`;

/**
 * Throws 403 unless the pass of the participant or, if it says nothing, `who_may_record` of the room allows them to
 * record. Returns whether they are a guest, for whom the limits of `start-limits.ts` apply.
 */
export async function requireMayRecord(
  sql: Sql,
  now: Date,
  { workspaceId, id }: RoomCaller,
): Promise<{ isGuest: boolean }> {
  const rights = onlyRow(await sql.run(recorderRights, { workspaceId, id, now }));
  const { whoMayRecord, isHost, isMember, mayRecord } = rights;
  if (mayRecord === false) throw forbidden('Your pass for this room does not allow you to record');
  if (mayRecord === true) return { isGuest: !isMember && !isHost };
  if (whoMayRecord === 'hosts' && !isHost) throw forbidden('Only hosts can record in this room');
  if (whoMayRecord === 'members' && !isMember && !isHost)
    throw forbidden('Only members of the workspace can record in this room');
  return { isGuest: !isMember && !isHost };
}

/**
 * Throws 403 for a running recording of the room that the participant did not start, unless they are a host, and 404
 * "Recording not found" for one that has stopped, and for one of another room.
 */
export async function requireMayStop(
  sql: Sql,
  now: Date,
  { workspaceId, roomId, id }: RoomCaller,
  { recordingId }: RecordingInput,
): Promise<void> {
  const [rights] = await sql.run(stopRights, { workspaceId, roomId, id, recordingId, now });
  if (rights === undefined) throw notFound('Recording');
  if (rights.isHost || rights.isStarter) return;
  if (!rights.isRunning) throw notFound('Recording');
  throw forbidden('Only the person who started the recording, and hosts of the room, can stop it');
}
