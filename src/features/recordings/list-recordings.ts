/** Lists the recordings of a user's rooms, of one room or of a workspace. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { toCreatedBounds } from '../../core/list-filters.ts';
import type { Page } from '../../core/list-page.ts';
import { isAtLeast } from '../../core/roles.ts';
import { readSlug } from '../../core/slugs.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import { byTime, type PageText, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { bool, int, nullable, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { ownParams, readRoom, roomConditions, toOwnParams } from '../rooms/read-rooms.ts';
import { forHosts, forMembers, recordingFields, recordingTables } from './recording-columns.ts';
import type {
  ListRecordingsInput,
  ListRoomRecordingsInput,
  ListWorkspaceRecordingsInput,
  Recording,
} from './schemas.ts';

type Db = Pick<Services, 'db'>;

const listed = { returns: { ...recordingFields, ...timeKey }, order: byTime('c.created_at', 'c.id', 'desc') };

/** The parameters of `isWanted`. */
const filterParams = {
  pattern: nullable(text),
  status: nullable(text),
  ownerId: nullable(int),
  roomName: nullable(text),
  createdFrom: time,
  createdTo: time,
};

/** The condition that the filters of a list select the recording `c` in the room `r`. */
const isWanted = `c.created_at >= $createdFrom and c.created_at < $createdTo
      and ($status is null or c.status = $status) and ($ownerId is null or r.user_id = $ownerId)
      and ($roomName is null or r.name = $roomName)
      and ($pattern is null or c.title ilike $pattern or r.name ilike $pattern or r.display_name ilike $pattern)`;

/** Selects the recordings `c` of rooms `r` for which `condition` is true. */
function selectRecordings(columns: string, condition: string): (page: PageText) => string {
  return ({ after, window }) => `
    select ${columns}, ${timeKeyOf('c.created_at')} from ${recordingTables} where ${condition} ${after} ${window}`;
}

const ownListParams = { ...ownParams, origin: text };
const own = {
  all: pagedList('list-own-recordings', {
    ...listed,
    params: ownListParams,
    sql: selectRecordings(forHosts, roomConditions.own),
  }),
  wanted: pagedList('search-own-recordings', {
    ...listed,
    params: { ...ownListParams, ...filterParams },
    sql: selectRecordings(forHosts, `${roomConditions.own} and ${isWanted}`),
  }),
};

const roomParams = { workspaceId: int, roomId: int, origin: text };
const isInRoom = 'r.workspace_id = $workspaceId and r.id = $roomId';
const ofRoom = {
  all: pagedList('list-recordings-of-room', {
    ...listed,
    params: roomParams,
    sql: selectRecordings(forHosts, isInRoom),
  }),
  wanted: pagedList('search-recordings-of-room', {
    ...listed,
    params: { ...roomParams, ...filterParams },
    sql: selectRecordings(forHosts, `${isInRoom} and ${isWanted}`),
  }),
};

/** The parameters of `isWatchable`. */
export const watcherParams = { workspaceId: int, userId: int, isAdmin: bool };

/** The condition that a member of the workspace can watch the recordings of the room `r`. */
export const isWatchable = `r.workspace_id = $workspaceId
      and ($isAdmin or r.user_id = $userId or r.recordings_visible_to = 'members')`;

const workspaceParams = { ...watcherParams, origin: text };
const ofWorkspace = {
  all: pagedList('list-recordings-of-workspace', {
    ...listed,
    params: workspaceParams,
    sql: selectRecordings(forMembers, isWatchable),
  }),
  wanted: pagedList('search-recordings-of-workspace', {
    ...listed,
    params: { ...workspaceParams, ...filterParams },
    sql: selectRecordings(forMembers, `${isWatchable} and ${isWanted}`),
  }),
};

/**
 * Lists the recordings of all the caller's rooms, or those that the filters select, newest first. `origin` is the
 * origin of their URLs. Throws 400 if the range of time is empty.
 */
export function listOwnRecordings(
  { db }: Db,
  caller: Caller,
  input: ListRecordingsInput,
  origin: string,
): Promise<Page<Recording>> {
  const params = { ...toOwnParams(caller), origin };
  const filters = toFilters(input);
  if (filters === null) return readPage(db.sql, own.all, params, input, []);
  return readPage(db.sql, own.wanted, { ...params, ...filters.params }, input, filters.values);
}

/** Returns null if there is no filter. `values` decide whether a cursor is valid. */
function toFilters({ search, status, from, to, user_id, room_name }: ListWorkspaceRecordingsInput) {
  const others = [status, from, to, user_id, room_name];
  if (!search && others.every((value) => value === undefined)) return null;
  const bounds = toCreatedBounds({ from, to });
  const params = { status: status ?? null, ownerId: user_id ?? null, roomName: room_name ?? null, ...bounds };
  return { values: [search, ...others], params: { pattern: search ? toLikePattern(search) : null, ...params } };
}

/** Lists recordings of a room that the caller manages, like `listOwnRecordings`. Throws 404 "Room not found". */
export async function listRoomRecordings(
  { db }: Db,
  caller: Caller,
  { name, ...input }: ListRoomRecordingsInput,
  origin: string,
): Promise<Page<Recording>> {
  const { workspace_id: workspaceId, id: roomId } = await readRoom(db.sql, caller, { name });
  const params = { workspaceId, roomId, origin };
  const filters = toFilters(input);
  if (filters === null) return readPage(db.sql, ofRoom.all, params, input, [workspaceId, roomId]);
  return readPage(db.sql, ofRoom.wanted, { ...params, ...filters.params }, input, [
    workspaceId,
    roomId,
    ...filters.values,
  ]);
}

/**
 * Lists recordings of the workspace, like `listOwnRecordings`: all for an owner or admin, and for a member those that
 * they can watch. A `room_name` that no room can have selects nothing.
 */
export function listWorkspaceRecordings(
  { db }: Db,
  actor: Actor,
  { room_name, ...input }: ListWorkspaceRecordingsInput,
  origin: string,
): Promise<Page<Recording>> {
  const { workspaceId } = actor;
  const params = { ...toWatcher(actor), origin };
  const roomName = room_name === undefined ? undefined : readSlug(room_name);
  if (roomName === null) return Promise.resolve({ entries: [] });
  const filters = toFilters({ ...input, room_name: roomName });
  if (filters === null) return readPage(db.sql, ofWorkspace.all, params, input, [workspaceId]);
  const values = [workspaceId, ...filters.values];
  return readPage(db.sql, ofWorkspace.wanted, { ...params, ...filters.params }, input, values);
}

/** The values of `watcherParams`. */
export function toWatcher({ workspaceId, userId, role }: Actor) {
  return { workspaceId, userId, isAdmin: isAtLeast(role, 'admin') };
}
