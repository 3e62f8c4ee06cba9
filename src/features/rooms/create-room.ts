/** Creates rooms, for the API and for bookings. */
import type { Caller } from '../../auth/identify.ts';
import { conflict, forbidden, notFound, tooManyTries } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { countForQuota } from '../../db/counters.ts';
import { onlyRow } from '../../db/only-row.ts';
import {
  bool,
  float,
  int,
  json,
  nullable,
  type RowOf,
  type Sql,
  statement,
  text,
  texts,
  time,
} from '../../db/statements.ts';
import type { EventData } from '../../events/catalogue.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { blankToNull, withUniqueSession } from './room-settings.ts';
import { type CreateRoomInput, DEFAULT_COLOR, type Room, type RoomSettings } from './schemas.ts';
import { generateRoomNames } from './suggest-room-name.ts';

/** The fields that the statement adds to the data of the event. */
type AddedData = 'workspace_id' | 'room_id' | 'room_name';

const MAX_TRIES = 10;

/**
 * The parameters of `roomParts`. `toRoomParams` returns all of them except `names`. The statement uses the first free
 * name.
 */
export const roomParams = {
  names: texts,
  userId: int,
  displayName: nullable(text),
  scheduledAt: nullable(float),
  accentColor: text,
  waitingRoomEnabled: bool,
  waitingRoomMessage: nullable(text),
  sessionId: nullable(text),
  createdAt: time,
  eventData: json<Omit<EventData<'room.created'>, AddedData>>(),
};

/**
 * Parts of a statement that creates a room and emits its event. `room` is the new room. It has the first free name and
 * is in the workspace of `allowed (workspace_id)`. It is empty if `allowed` is empty or all names are taken.
 */
export const roomParts = `
    candidate as (
      select c.name from unnest($names) with ordinality c (name, position)
      where not exists (select from rooms r where r.name = c.name) order by c.position limit 1),
    room as (
      insert into rooms (workspace_id, name, user_id, display_name, scheduled_at, accent_color, waiting_room_enabled,
        waiting_room_message, session_id, created_at, last_used_at)
      select a.workspace_id, c.name, $userId, $displayName, $scheduledAt, $accentColor, $waitingRoomEnabled,
        $waitingRoomMessage, $sessionId, $createdAt, $createdAt
      from allowed a, candidate c
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
 * The checks use locked rows, which PostgreSQL reads again after waiting for a lock. The workspace is locked so that it
 * cannot be deleted. Then the member is locked so that a concurrent role change takes effect entirely before or after
 * this statement.
 */
function declareCreateRoom<Params extends Partial<{ workspaceId: typeof int }>>(
  name: string,
  params: Params,
  isWanted: string,
) {
  return statement(name, {
    params: { ...params, ...roomParams, quota: int },
    returns: {
      workspace_id: nullable(int),
      rooms: nullable(int),
      role: nullable(text),
      id: nullable(int),
      name: nullable(text),
    },
    hasChanged: ([row]) => row?.id != null,
    sql: `
    with workspace as (
      select w.id, ${countForQuota('rooms', '$quota')} as rooms from workspaces w
      where ${isWanted} and exists (select from members m where m.workspace_id = w.id and m.user_id = $userId)
      for key share),
    member as (
      select m.role from workspace w join members m on m.workspace_id = w.id and m.user_id = $userId for share of m),
    allowed as (
      select w.id as workspace_id from workspace w, member m
      where m.role in ('owner', 'admin') and ($quota = 0 or w.rooms < $quota)),
    ${roomParts}
    select coalesce(w.id, (
        select w.id from workspaces w
        where ${isWanted} and not exists (select from members m where m.workspace_id = w.id and m.user_id = $userId)
      )) as workspace_id, w.rooms, (select role from member) as role, r.id, r.name
    from (select) one left join workspace w on true left join room r on true`,
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
 * Throws 404 "Workspace not found", 403, and 409 if the name is taken, another room of the workspace has the session
 * id, or the workspace has reached its quota.
 */
export async function createRoom(
  { db, clock, settings: { quotas } }: Pick<Services, 'db' | 'clock' | 'settings'>,
  caller: Caller,
  { workspace_id: requestedId, name, ...settings }: CreateRoomInput,
  generateNames = generateRoomNames,
): Promise<Room> {
  const { credential, userId } = caller;
  if (credential.kind === 'key' && requestedId !== undefined && requestedId !== credential.workspaceId)
    throw await refuseKey(db.sql, requestedId);
  const workspaceId = credential.kind === 'key' ? credential.workspaceId : requestedId;
  const createdAt = clock.now();
  const params = { ...toRoomParams(caller, settings, createdAt), quota: quotas.rooms };
  const room = await withFreeName(name, generateNames, async (names) => {
    const rows = await (workspaceId === undefined
      ? db.sql.run(createRoomInPersonal, { ...params, names })
      : db.sql.run(createRoomIn, { ...params, workspaceId, names }));
    return requireAllowed(onlyRow(rows), quotas);
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
  };
}

/**
 * Returns the error for an API key of another workspace: 404 if the requested workspace does not exist, otherwise 403.
 */
async function refuseKey(sql: Sql, workspaceId: number) {
  const [workspace] = await sql.run(findWorkspace, { workspaceId });
  return workspace ? forbidden() : notFound('Workspace');
}

/** Returns the values of `roomParams`, except `names`. */
export function toRoomParams(
  { userId, name }: Pick<Caller, 'userId' | 'name'>,
  {
    scheduled_at: scheduledAt = null,
    accent_color: accentColor = DEFAULT_COLOR,
    waiting_room_enabled = false,
    waiting_room_message: waitingRoomMessage = null,
    display_name,
    session_id,
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
    createdAt,
    eventData,
  };
}

/**
 * Calls `insert` with the requested name, or with generated names until it returns a room. Throws 409 if the requested
 * name is taken or another room of the workspace has the session id.
 */
async function withFreeName<Inserted>(
  requested: string | undefined,
  generateNames: () => string[],
  insert: (names: string[]) => Promise<Inserted | null>,
): Promise<Inserted> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const names = requested === undefined ? generateNames() : [requested];
    const inserted = await withUniqueSession(() => insert(names));
    if (inserted !== null) return inserted;
    if (requested !== undefined) throw conflict('Room name already taken');
  }
  throw tooManyTries();
}

/** Returns null if the names are taken. Throws 404 and 403. Throws 409 if the workspace has reached its quota. */
function requireAllowed(
  { workspace_id, rooms, role, id, name }: RowOf<typeof createRoomIn>,
  quotas: Services['settings']['quotas'],
) {
  if (workspace_id === null) throw notFound('Workspace');
  if (rooms === null || role === null || !isAtLeast(toRole(role), 'admin')) throw forbidden();
  requireWithinQuota(quotas, 'rooms', rooms + 1);
  return id === null || name === null ? null : { id, name, workspaceId: workspace_id };
}
