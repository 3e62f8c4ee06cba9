/** Creates rooms, for the API and for bookings. */
import type { Caller } from '../../auth/identify.ts';
import { badField, conflict, forbidden, notFound, tooManyTries } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { countForQuota } from '../../db/counters.ts';
import { bool, float, int, json, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import type { EventData } from '../../events/catalogue.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { blankToNull, requireTurn, withUniqueSession } from './room-settings.ts';
import { type CreateRoomInput, DEFAULT_COLOR, type Room, type RoomSettings } from './schemas.ts';
import { findFreeName, generateRoomNames } from './suggest-room-name.ts';

/** The fields that the statement adds to the data of the event. */
type AddedData = 'workspace_id' | 'room_id' | 'room_name';

const MAX_TRIES = 10;

/** The parameters of `roomParts`. `toRoomParams` returns all of them except `roomName`. */
export const roomParams = {
  roomName: text,
  userId: int,
  displayName: nullable(text),
  scheduledAt: nullable(float),
  accentColor: text,
  waitingRoomEnabled: bool,
  waitingRoomMessage: nullable(text),
  sessionId: nullable(text),
  media: nullable(text),
  relayOnly: bool,
  chatEnabled: bool,
  maxParticipants: nullable(int),
  membersOnly: bool,
  recordingsVisibleTo: text,
  whoMayRecord: text,
  createdAt: time,
  eventData: json<Omit<EventData<'room.created'>, AddedData>>(),
};

/**
 * The CTEs of a statement that creates a room and emits its event. The statement must define `allowed (workspace_id)`,
 * the workspace of the room. `room` returns the new row, or no row if `allowed` has none or the name is taken.
 */
export const roomParts = `
    room as (
      insert into rooms (workspace_id, name, user_id, display_name, scheduled_at, accent_color, waiting_room_enabled,
        waiting_room_message, session_id, media, relay_only, chat_enabled, max_participants, members_only,
        recordings_visible_to, who_may_record, created_at, last_used_at)
      select workspace_id, $roomName, $userId, $displayName, $scheduledAt, $accentColor, $waitingRoomEnabled,
        $waitingRoomMessage, $sessionId, $media, $relayOnly, $chatEnabled, $maxParticipants, $membersOnly,
        $recordingsVisibleTo, $whoMayRecord, $createdAt, $createdAt
      from allowed
      on conflict (name) do nothing returning workspace_id, id, name),
    event as (
      insert into events (workspace_id, type, data, created_at, traceparent)
      select workspace_id, 'room.created',
        $eventData || jsonb_build_object('workspace_id', workspace_id, 'room_id', id, 'room_name', name), $createdAt,
        $traceparent
      from room returning id)`;

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

/** Returns the values of `roomParams`, except `roomName`. */
export function toRoomParams(
  { userId, name }: Pick<Caller, 'userId' | 'name'>,
  {
    scheduled_at: scheduledAt = null,
    accent_color: accentColor = DEFAULT_COLOR,
    waiting_room_enabled = false,
    waiting_room_message: waitingRoomMessage = null,
    display_name,
    session_id,
    media = null,
    relay_only: relayOnly = false,
    chat_enabled: chatEnabled = true,
    max_participants: maxParticipants = null,
    members_only = false,
    recordings_visible_to: recordingsVisibleTo = 'members',
    who_may_record: whoMayRecord = 'everyone',
  }: RoomSettings,
  createdAt: Date,
) {
  const displayName = blankToNull(display_name);
  const eventData = {
    display_name: displayName,
    created_by: name,
    created_by_id: userId,
    scheduled_at: scheduledAt,
    created_at: toUnixSeconds(createdAt),
  };
  return {
    userId,
    displayName,
    scheduledAt,
    accentColor,
    waitingRoomEnabled: Boolean(waiting_room_enabled),
    waitingRoomMessage,
    sessionId: blankToNull(session_id),
    media,
    relayOnly: Boolean(relayOnly),
    chatEnabled: Boolean(chatEnabled),
    maxParticipants,
    membersOnly: Boolean(members_only),
    recordingsVisibleTo,
    whoMayRecord,
    createdAt,
    eventData,
  };
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
