import type { Caller } from '../../auth/identify.ts';
import { secondsOf } from '../../db/columns.ts';
import { toLimitOffset } from '../../db/limit-offset.ts';
import { float, int, nullable, oneOf, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { ParticipantStatus } from './participant-status.ts';
import { findHostAccess } from './room-access.ts';
import type { ListParticipantsInput, Participant } from './schemas.ts';

const listParams = { workspaceId: int, roomId: int, limit: int, offset: int };

const listFields = {
  id: int,
  name: text,
  email: nullable(text),
  user_id: nullable(int),
  contact_id: nullable(int),
  status: oneOf<ParticipantStatus>(),
  created_at: float,
  joined_at: nullable(float),
  left_at: nullable(float),
};

const presentOrWaiting = statement('list-present-participants', {
  params: listParams,
  returns: listFields,
  sql: selectWhere("p.status in ('waiting', 'joined')"),
});

const withStatus = statement('list-participants-with-status', {
  params: { ...listParams, status: text },
  returns: listFields,
  sql: selectWhere('p.status = $status'),
});

function selectWhere(condition: string): string {
  return `
    select p.id, p.name, p.email, p.user_id, p.contact_id, p.status, ${secondsOf('p.created_at')} as created_at,
      ${secondsOf('p.joined_at')} as joined_at, ${secondsOf('p.left_at')} as left_at
    from participants p
    where p.workspace_id = $workspaceId and p.room_id = $roomId and ${condition}
    order by p.created_at desc, p.id desc limit $limit offset $offset`;
}

/**
 * Lists the participants of a room with this status, or without `status` those who are waiting or have joined, newest
 * first. Throws 404 "Room not found", also for a caller who is not a host of the room.
 */
export async function listParticipants(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  { name, status, ...page }: ListParticipantsInput,
): Promise<Participant[]> {
  const { workspaceId, roomId } = await findHostAccess(db.sql, caller, name);
  const list = { workspaceId, roomId, ...toLimitOffset(page) };
  return status === undefined ? db.sql.run(presentOrWaiting, list) : db.sql.run(withStatus, { ...list, status });
}
