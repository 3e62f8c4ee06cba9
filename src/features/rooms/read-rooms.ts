/** Reads the rooms of a user or a workspace, or one room by its name. */
import type { Actor, Caller } from '../../auth/identify.ts';
import type { RoomHost } from '../../auth/participants.ts';
import { requireSatisfied } from '../../auth/sign-in-requirements.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { toCreatedBounds } from '../../core/list-filters.ts';
import type { Page } from '../../core/list-page.ts';
import { readSlug } from '../../core/slugs.ts';
import type { Tx } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import { byTime, type PageText, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, float, int, ints, json, nullable, oneOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { type BrandingRow, brandingOf, toBranding } from '../branding/public-branding.ts';
import { mediaKind, mediaOriginParams, seatsTaken, toMediaOriginParams } from '../peers/media.ts';
import type {
  ListRoomsInput,
  ListWorkspaceRoomsInput,
  PublicRoom,
  PublicRoomInput,
  Recorders,
  RecordingViewers,
  Room,
  RoomInput,
} from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** The parameters of `roomConditions`. An API key gives access only to rooms in its own workspace. */
export const callerParams = { userId: int, keyWorkspaceId: nullable(int) };

/** The parameters of `roomConditions.own`: also the workspaces whose requirements the session does not satisfy. */
export const ownParams = { ...callerParams, unmetIn: ints };

const ofKey = '($keyWorkspaceId is null or r.workspace_id = $keyWorkspaceId)';

/**
 * Conditions on the room `r`. `own` means that the room belongs to the caller, for lists. `managed` means that the
 * caller is one of its hosts, because it belongs to them, or they are the owner or an admin of its workspace.
 */
export const roomConditions = {
  own: `r.user_id = $userId and ${ofKey} and not r.workspace_id = any($unmetIn)`,
  managed: `${ofKey} and (r.user_id = $userId or exists (
        select from members a
        where a.workspace_id = r.workspace_id and a.user_id = $userId and a.role in ('owner', 'admin')))`,
};

const roomFields = {
  id: int,
  workspace_id: int,
  name: text,
  user_id: int,
  display_name: nullable(text),
  created_at: float,
  last_used_at: float,
  recording_count: int,
  scheduled_at: nullable(float),
  accent_color: text,
  waiting_room_enabled: int,
  waiting_room_message: nullable(text),
  session_id: nullable(text),
  locked: int,
  media: nullable(oneOf<'mesh'>()),
  relay_only: int,
  chat_enabled: int,
  max_participants: nullable(int),
  members_only: int,
  recordings_visible_to: oneOf<RecordingViewers>(),
  who_may_record: oneOf<Recorders>(),
};

/** The fields of the room `r`. */
const roomColumns = `r.id, r.workspace_id, r.name, r.user_id, r.display_name,
      ${secondsOf('r.created_at')} as created_at, ${secondsOf('r.last_used_at')} as last_used_at,
      (select count(*)::int from recordings c where c.workspace_id = r.workspace_id and c.room_id = r.id)
        as recording_count,
      r.scheduled_at, r.accent_color, ${flagOf('r.waiting_room_enabled')} as waiting_room_enabled,
      r.waiting_room_message, r.session_id, ${flagOf('(r.locked_at is not null)')} as locked, r.media,
      ${flagOf('r.relay_only')} as relay_only, ${flagOf('r.chat_enabled')} as chat_enabled, r.max_participants,
      ${flagOf('r.members_only')} as members_only, r.recordings_visible_to, r.who_may_record`;

const listed = { returns: { ...roomFields, ...timeKey }, order: byTime('r.created_at', 'r.id', 'desc') };
const listedColumns = `${roomColumns}, ${timeKeyOf('r.created_at')}`;

/** The parameters of `isWanted`. */
const filterParams = {
  pattern: nullable(text),
  ownerId: nullable(int),
  isBooked: nullable(bool),
  createdFrom: time,
  createdTo: time,
};

/**
 * The condition that the filters of a list select the room `r`. No index supports the search: it compares the rooms in
 * the order of the list, a few microseconds each, until the page is full. A trigram index would cost more for each new
 * room, and rooms are created far more often than they are searched.
 */
const isWanted = `r.created_at >= $createdFrom and r.created_at < $createdTo
      and ($ownerId is null or r.user_id = $ownerId)
      and ($isBooked is null or $isBooked = exists (
        select from bookings b where b.workspace_id = r.workspace_id and b.room_id = r.id))
      and ($pattern is null or r.name ilike $pattern or r.display_name ilike $pattern)`;

/** Selects the rooms `r` for which `condition` is true. */
function selectRooms(condition: string): (page: PageText) => string {
  return ({ after, window }) => `
    select ${listedColumns} from rooms r where ${condition} ${after} ${window}`;
}

const ownRooms = pagedList('list-own-rooms', {
  ...listed,
  params: ownParams,
  sql: selectRooms(roomConditions.own),
});

const ownRoomsWanted = pagedList('search-own-rooms', {
  ...listed,
  params: { ...ownParams, ...filterParams },
  sql: selectRooms(`${roomConditions.own} and ${isWanted}`),
});

const roomsOfWorkspace = pagedList('list-rooms-of-workspace', {
  ...listed,
  params: { workspaceId: int },
  sql: selectRooms('r.workspace_id = $workspaceId'),
});

const roomsOfWorkspaceWanted = pagedList('search-rooms-of-workspace', {
  ...listed,
  params: { workspaceId: int, ...filterParams },
  sql: selectRooms(`r.workspace_id = $workspaceId and ${isWanted}`),
});

const managedRoom = statement('read-managed-room', {
  params: { name: text, ...callerParams },
  returns: roomFields,
  sql: `
    select ${roomColumns} from rooms r where r.name = $name and ${roomConditions.managed}`,
});

const roomOfWorkspace = statement('read-room-of-workspace', {
  params: { workspaceId: int, name: text },
  returns: roomFields,
  sql: `
    select ${roomColumns} from rooms r where r.workspace_id = $workspaceId and r.name = $name`,
});

/** The condition that the user `$userId`, who may be null, is a host of the room `r`. `m` is their membership. */
const isHost = "coalesce(r.user_id = $userId or m.role in ('owner', 'admin'), false)";

const publicRoom = statement('read-public-room', {
  params: {
    name: text,
    userId: nullable(int),
    email: nullable(text),
    now: time,
    maxParticipants: int,
    isRelayOnly: bool,
    ...mediaOriginParams,
  },
  returns: {
    name: text,
    display_name: nullable(text),
    accent_color: text,
    waiting_room_enabled: int,
    scheduled_at: nullable(float),
    locked: int,
    media: oneOf<'mesh' | 'livekit' | 'none'>(),
    members_only: int,
    recordings_visible_to: oneOf<RecordingViewers>(),
    who_may_record: oneOf<Recorders>(),
    full: int,
    relay_only: int,
    recorded: int,
    recorded_by: nullable(text),
    must_wait: int,
    is_member: int,
    branding: json<BrandingRow>('json'),
  },
  sql: `
    select r.name, r.display_name, r.accent_color, ${flagOf('r.waiting_room_enabled')} as waiting_room_enabled,
      r.scheduled_at, ${flagOf('(r.locked_at is not null)')} as locked,
      ${mediaKind} as media,
      ${flagOf('r.members_only')} as members_only, r.recordings_visible_to, r.who_may_record,
      case when r.max_participants is not null and not ${isHost} and r.max_participants <= (
          select count(*) from participants p
          where p.workspace_id = r.workspace_id and p.room_id = r.id and p.status = 'joined') then 1
        else ${flagOf(`(${seatsTaken} >= $maxParticipants + (${isHost})::int and ${mediaKind} = 'mesh')`)} end as full,
      ${flagOf('($isRelayOnly or r.relay_only)')} as relay_only, ${flagOf('(c.id is not null)')} as recorded,
      case when not r.members_only then (
        select p.name from participants p where p.workspace_id = c.workspace_id and p.id = c.started_by
      ) end as recorded_by,
      case when $userId is null then ${flagOf('r.waiting_room_enabled')}
        when ${isHost} then 0
        when r.waiting_room_enabled and m.role is null then 1
        else (
          select ${flagOf('(e.barred_until is not null)')}
          from check_room_entry(r.workspace_id, r.id, $userId, lower(trim($email)), null, null, $now) e
        ) end as must_wait,
      ${flagOf('(m.role is not null)')} as is_member, ${brandingOf('w')} as branding
    from rooms r join workspaces w on w.id = r.workspace_id
    left join members m on m.workspace_id = r.workspace_id and m.user_id = $userId
    left join lateral (
      select c.workspace_id, c.id, c.started_by from recordings c
      where c.workspace_id = r.workspace_id and c.room_id = r.id and c.status = 'started' and c.ended_at is null
        and (c.started_by is null or exists (
          select from participants p
          where p.workspace_id = c.workspace_id and p.id = c.started_by and p.status = 'joined'))
      order by c.created_at, c.id limit 1) c on true
    where r.name = $name`,
});

/**
 * Lists the caller's rooms, or those that the filters select, newest first. With an API key, lists only the rooms in
 * the key's workspace. Throws 400 if the range of time is empty.
 */
export function listOwnRooms({ db }: Db, caller: Caller, input: ListRoomsInput): Promise<Page<Room>> {
  const params = toOwnParams(caller);
  const filters = toFilters(input);
  if (filters === null) return readPage(db.sql, ownRooms, params, input, []);
  return readPage(db.sql, ownRoomsWanted, { ...params, ...filters.params }, input, filters.values);
}

/** Returns null if there is no filter. `values` decide whether a cursor is valid. */
function toFilters({ search, from, to, user_id, booked }: ListWorkspaceRoomsInput) {
  // Cursors of lists without the newest filter stay valid during an upgrade.
  const values = [search, from, to, user_id, ...(booked === undefined ? [] : [booked])];
  if (!search && [from, to, user_id, booked].every((value) => value === undefined)) return null;
  const pattern = search ? toLikePattern(search) : null;
  const isBooked = booked === undefined ? null : booked === 1;
  return { values, params: { pattern, ownerId: user_id ?? null, isBooked, ...toCreatedBounds({ from, to }) } };
}

/** The values of `callerParams`. */
export function toCallerParams({ userId, credential }: Caller): { userId: number; keyWorkspaceId: number | null } {
  return { userId, keyWorkspaceId: credential.kind === 'key' ? credential.workspaceId : null };
}

/** The values of `ownParams`. */
export function toOwnParams(caller: Caller) {
  return { ...toCallerParams(caller), unmetIn: Object.keys(caller.unmetIn).map(Number) };
}

/** Lists all rooms of the workspace, or those that the filters select, newest first. Throws 400 for an empty range. */
export function listWorkspaceRooms(
  { db }: Db,
  { workspaceId }: Actor,
  input: ListWorkspaceRoomsInput,
): Promise<Page<Room>> {
  const filters = toFilters(input);
  if (filters === null) return readPage(db.sql, roomsOfWorkspace, { workspaceId }, input, [workspaceId]);
  const params = { workspaceId, ...filters.params };
  return readPage(db.sql, roomsOfWorkspaceWanted, params, input, [workspaceId, ...filters.values]);
}

/** Reads a room of the workspace, for any member. Throws 404 "Room not found". */
export function readWorkspaceRoom({ db }: Db, { workspaceId }: Actor, input: RoomInput): Promise<Room> {
  return readRoomOfWorkspace(db.sql, workspaceId, input);
}

async function readRoomOfWorkspace(sql: Sql, workspaceId: number, input: RoomInput): Promise<Room> {
  const name = readSlug(input.name);
  if (name === null) throw notFound('Room');
  const [room] = await sql.run(roomOfWorkspace, { workspaceId, name });
  if (!room) throw notFound('Room');
  return room;
}

/**
 * Reads a room that the caller manages. Throws the same 404 for any other room and for an unknown room, and 403 as
 * `requireSatisfied` does.
 */
export async function readRoom(sql: Sql, caller: Caller, input: RoomInput): Promise<Room> {
  const name = readSlug(input.name);
  if (name === null) throw notFound('Room');
  const [room] = await sql.run(managedRoom, { name, ...toCallerParams(caller) });
  if (!room) throw notFound('Room');
  requireSatisfied(caller, room.workspace_id);
  return room;
}

/** Reads a room for a host. The holder of a pass has been found in it. Throws the same errors as `readRoom`. */
export function readRoomAsHost(sql: Sql, host: RoomHost, input: RoomInput): Promise<Room> {
  if (!('participant' in host)) return readRoom(sql, host, input);
  return readRoomOfWorkspace(sql, host.participant.workspaceId, input);
}

/** Locks the workspace of a room and reads the room. Throws the same errors as `readRoom`. */
export async function lockRoom(tx: Tx, caller: Caller, input: RoomInput): Promise<Room> {
  const { workspace_id } = await readRoom(sqlIn(tx), caller, input);
  await lockWorkspace(tx, workspace_id, 'Room');
  // Reads the room again: during the wait for the lock, the room may have been deleted or reassigned, or the role
  // changed.
  return readRoom(sqlIn(tx), caller, input);
}

/**
 * Reads the public fields of a room, for a user or for anyone (null). `origin` is that of the URL of the logo. Throws
 * 404 "Room not found".
 */
export async function readPublicRoom(
  { db, clock, settings }: Db & Pick<Services, 'clock' | 'settings'>,
  caller: Caller | null,
  { roomName }: PublicRoomInput,
  origin: string,
): Promise<PublicRoom> {
  const name = readSlug(roomName);
  if (name === null) throw notFound('Room');
  const { maxParticipants, isRelayOnly } = settings.meetings;
  const person = { userId: caller?.userId ?? null, email: caller?.email ?? null };
  const media = { maxParticipants, isRelayOnly, ...toMediaOriginParams(settings) };
  const [room] = await db.sql.run(publicRoom, { name, ...person, now: clock.now(), ...media });
  if (!room) throw notFound('Room');
  return { ...room, branding: toBranding(room.branding, origin) };
}
