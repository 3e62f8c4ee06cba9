/** Creates rooms for the API. */
import type { Caller } from '../../auth/identify.ts';
import { requireSatisfied } from '../../auth/sign-in-requirements.ts';
import { badField, conflict, forbidden, notFound, tooManyTries } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { countForQuota } from '../../db/counters.ts';
import { int, nullable, type Sql, statement, text } from '../../db/statements.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { roomParams, roomParts, toRoomParams } from './insert-room.ts';
import { requireTurn, withUniqueSession } from './room-settings.ts';
import type { CreateRoomInput, Room } from './schemas.ts';
import { findFreeName, generateRoomNames } from './suggest-room-name.ts';

const MAX_TRIES = 10;

const createRoomIn = declareCreateRoom('create-room', { workspaceId: int }, 'w.id = $workspaceId');
const createRoomInPersonal = declareCreateRoom('create-room-in-personal', {}, 'w.owner_id = $userId and w.is_personal');

/**
 * The statement returns no row if the caller is not a member. It checks current values: if PostgreSQL has to wait for
 * the lock on a row, it then reads the row again. The workspace is locked first, so that it cannot be deleted. Then the
 * member is locked, so that a concurrent role change takes effect entirely before or after this statement.
 *
 * The statement has few CTEs, because PostgreSQL initializes each CTE on every call. A version of this statement that
 * also reported why a room is refused, and tried several names, was a quarter slower.
 */
function declareCreateRoom<Params extends Partial<{ workspaceId: typeof int }>>(
  name: string,
  params: Params,
  isWanted: string,
) {
  return statement(name, {
    params: { ...params, ...roomParams, quota: int },
    returns: { workspace_id: int, role: text, rooms: int, id: nullable(int) },
    hasChanged: ([row]) => row?.id != null,
    sql: `
    with member as (
      select m.workspace_id, m.role, ${countForQuota('rooms', '$quota')} as rooms
      from workspaces w join members m on m.workspace_id = w.id and m.user_id = $userId
      where ${isWanted}
      for key share of w for share of m),
    allowed as (
      select workspace_id from member where role in ('owner', 'admin') and ($quota = 0 or rooms < $quota)),
    ${roomParts}
    select workspace_id, role, rooms, (select id from room) as id from member`,
  });
}

/** Checks whether a workspace exists. */
const findWorkspace = statement('find-workspace', {
  params: { workspaceId: int },
  returns: { id: int },
  sql: `
    select id from workspaces where id = $workspaceId`,
});

/**
 * Creates a room and emits `room.created`, in one statement. If the input has no name, the room gets one of the names
 * that `generateNames` returns. A concurrent demotion of the caller takes effect either before or after the statement.
 *
 * Throws 400 if the input names two workspaces or has `relay_only` without a TURN server, 404 "Workspace not found",
 * 403, and 409 if the name is taken, another room of the workspace has the session id, or the workspace has reached its
 * quota.
 */
export async function createRoom(
  { db, clock, settings: config }: Pick<Services, 'db' | 'clock' | 'settings'>,
  caller: Caller,
  { workspace_id, workspaceId: sameId, name: requestedName, ...settings }: CreateRoomInput,
  generateNames = generateRoomNames,
): Promise<Room> {
  requireTurn(config, settings);
  const { quotas } = config;
  const { credential, userId } = caller;
  const requestedId = workspace_id ?? sameId;
  if (sameId !== undefined && sameId !== requestedId)
    throw badField('workspaceId', 'workspaceId must equal workspace_id');
  if (credential.kind === 'key' && requestedId !== undefined && requestedId !== credential.workspaceId)
    throw await refuse(db.sql, requestedId);
  const workspaceId = credential.kind === 'key' ? credential.workspaceId : requestedId;
  if (workspaceId !== undefined) requireSatisfied(caller, workspaceId);
  const createdAt = clock.now();
  const params = { ...toRoomParams(caller, settings, createdAt), quota: quotas.rooms };
  const room = await withFreeName(db.sql, requestedName, generateNames, async (roomName) => {
    const [row] = await (workspaceId === undefined
      ? db.sql.run(createRoomInPersonal, { ...params, roomName })
      : db.sql.run(createRoomIn, { ...params, workspaceId, roomName }));
    if (!row) throw await refuse(db.sql, workspaceId);
    if (!isAtLeast(toRole(row.role), 'admin')) throw forbidden();
    requireWithinQuota(quotas, 'rooms', row.rooms + 1);
    return row.id === null ? null : { id: row.id, name: roomName, workspaceId: row.workspace_id };
  });
  return {
    id: room.id,
    workspace_id: room.workspaceId,
    name: room.name,
    user_id: userId,
    display_name: params.displayName,
    created_at: toUnixSeconds(createdAt),
    last_used_at: toUnixSeconds(createdAt),
    recording_count: 0,
    scheduled_at: params.scheduledAt,
    accent_color: params.accentColor,
    waiting_room_enabled: params.waitingRoomEnabled ? 1 : 0,
    waiting_room_message: params.waitingRoomMessage,
    session_id: params.sessionId,
    locked: 0,
    media: params.media,
    relay_only: params.relayOnly ? 1 : 0,
    chat_enabled: params.chatEnabled ? 1 : 0,
    max_participants: params.maxParticipants,
    members_only: params.membersOnly ? 1 : 0,
    recordings_visible_to: params.recordingsVisibleTo,
    who_may_record: params.whoMayRecord,
  };
}

/** Returns the error for a caller without access: 404 if the workspace does not exist, otherwise 403. */
async function refuse(sql: Sql, workspaceId: number | undefined) {
  const found = workspaceId === undefined ? [] : await sql.run(findWorkspace, { workspaceId });
  return found.length === 0 ? notFound('Workspace') : forbidden();
}

/**
 * Calls `insert` with the requested name, or with generated names until one is free. `insert` returns null if the name
 * is taken. Most generated names are free, so the first try does not look up which names are free; later tries do.
 * Throws 409 if the requested name is taken or another room of the workspace has the session id.
 */
async function withFreeName<Inserted>(
  sql: Sql,
  requested: string | undefined,
  generateNames: () => string[],
  insert: (name: string) => Promise<Inserted | null>,
): Promise<Inserted> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const name = requested ?? (tries === 1 ? generateNames()[0] : await findFreeName(sql, generateNames()));
    if (name === undefined) continue;
    const inserted = await withUniqueSession(() => insert(name));
    if (inserted !== null) return inserted;
    if (requested !== undefined) throw conflict('Room name already taken');
  }
  throw tooManyTries();
}
