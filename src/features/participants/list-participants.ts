import type { Actor } from '../../auth/identify.ts';
import type { RoomHost } from '../../auth/participants.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import type { Metadata } from '../../core/metadata.ts';
import { isAtLeast } from '../../core/roles.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, type PageText, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { bool, float, int, json, nullable, oneOf, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { isHostParticipant } from './participant-record.ts';
import type { EndReason, ParticipantStatus } from './participant-status.ts';
import { findHostAccess } from './room-access.ts';
import type { ListedParticipant, ListParticipantsInput, WaitingParticipant } from './schemas.ts';

const listParams = { workspaceId: int, roomId: int };
const order = byTime('p.created_at', 'p.id', 'desc');

const listFields = {
  id: int,
  name: text,
  email: nullable(text),
  user_id: nullable(int),
  contact_id: nullable(int),
  external_id: nullable(text),
  metadata: nullable(json<Metadata>()),
  status: oneOf<ParticipantStatus>(),
  end_reason: nullable(oneOf<EndReason>()),
  email_verified: bool,
  is_host: int,
  is_member: int,
  created_at: float,
  joined_at: nullable(float),
  left_at: nullable(float),
  ...timeKey,
};

const listColumns = `
    p.id, p.name, p.email, p.user_id, p.contact_id, p.external_id, p.metadata, p.status, p.end_reason,
      exists (
        select from users u where u.id = p.user_id and u.email = p.email and u.email_verified_at is not null
      ) as email_verified,
      ${isHostParticipant('p')}::int as is_host,
      (m.role is not null)::int as is_member, ${secondsOf('p.created_at')} as created_at,
      ${secondsOf('p.joined_at')} as joined_at, ${secondsOf('p.left_at')} as left_at,
      ${timeKeyOf('p.created_at')}`;

const listTables = `participants p
    join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
    left join members m on m.workspace_id = p.workspace_id and m.user_id = p.user_id`;

const presentOrWaiting = pagedList('list-present-participants', {
  order,
  params: listParams,
  returns: listFields,
  sql: (page) => selectWhere("p.status in ('waiting', 'joined')", page),
});

const withStatus = pagedList('list-participants-with-status', {
  order,
  params: { ...listParams, status: text },
  returns: listFields,
  sql: (page) => selectWhere('p.status = $status', page),
});

/** In the order of their arrival, in which they are admitted. */
const waitingInWorkspace = pagedList('list-waiting-participants', {
  order: byTime('p.created_at', 'p.id', 'asc'),
  params: { workspaceId: int, userId: int, isAdmin: bool },
  returns: { ...listFields, room_id: int, room_name: text, room_display_name: nullable(text) },
  sql: ({ after, window }) => `
    select ${listColumns}, r.id as room_id, r.name as room_name, r.display_name as room_display_name
    from ${listTables}
    where p.workspace_id = $workspaceId and p.status = 'waiting' and ($isAdmin or r.user_id = $userId) ${after}
    ${window}`,
});

function selectWhere(condition: string, { after, window }: PageText): string {
  return `
    select ${listColumns} from ${listTables}
    where p.workspace_id = $workspaceId and p.room_id = $roomId and ${condition} ${after}
    ${window}`;
}

/**
 * Lists the participants of a room with this status, newest first. Without `status`, lists participants who are waiting
 * or have joined. Throws 404 "Room not found" if the room does not exist or the caller is not one of its hosts.
 */
export async function listParticipants(
  { db }: Pick<Services, 'db'>,
  host: RoomHost,
  { name, status, ...page }: ListParticipantsInput,
): Promise<Page<ListedParticipant>> {
  const { workspaceId, roomId } = await findHostAccess(db.sql, host, name);
  const room = { workspaceId, roomId };
  return status === undefined
    ? readPage(db.sql, presentOrWaiting, room, page, [workspaceId, roomId])
    : readPage(db.sql, withStatus, { ...room, status }, page, [workspaceId, roomId, status]);
}

/**
 * Lists the participants who wait in any room of the workspace of which the actor is a host, with their rooms, in
 * the order of their arrival.
 */
export async function listWaiting(
  { db }: Pick<Services, 'db'>,
  { workspaceId, userId, role }: Actor,
  page: ListPageInput,
): Promise<Page<WaitingParticipant>> {
  const params = { workspaceId, userId, isAdmin: isAtLeast(role, 'admin') };
  const { entries, ...rest } = await readPage(db.sql, waitingInWorkspace, params, page, [workspaceId]);
  return {
    ...rest,
    entries: entries.map(({ room_id, room_name, room_display_name, ...participant }) => ({
      ...participant,
      room: { id: room_id, name: room_name, display_name: room_display_name },
    })),
  };
}
