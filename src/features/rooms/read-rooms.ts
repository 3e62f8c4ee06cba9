/** Reads the rooms of a user or a workspace, or one room by its name. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { readSlug } from '../../core/slugs.ts';
import type { Tx } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, float, int, nullable, oneOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { isMesh, seatsTaken } from '../peers/media.ts';
import type { PublicRoom, PublicRoomInput, Room, RoomInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** How a caller relates to a room. */
export type RoomRelation = keyof typeof roomConditions;

/** The parameters of `roomConditions`. An API key gives access only to rooms in its own workspace. */
export const callerParams = { userId: int, keyWorkspaceId: nullable(int) };

const ofKey = '($keyWorkspaceId is null or r.workspace_id = $keyWorkspaceId)';

/**
 * Conditions on the room `r`. `own` means that the room belongs to the caller. `managed` means that the caller may read
 * and delete the room, because it belongs to them, or they are the owner or an admin of its workspace.
 */
export const roomConditions = {
  own: `r.user_id = $userId and ${ofKey}`,
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
};

/** The fields of the room `r`. */
const roomColumns = `r.id, r.workspace_id, r.name, r.user_id, r.display_name,
      ${secondsOf('r.created_at')} as created_at, ${secondsOf('r.last_used_at')} as last_used_at,
      (select count(*)::int from recordings c where c.workspace_id = r.workspace_id and c.room_id = r.id)
        as recording_count,
      r.scheduled_at, r.accent_color, ${flagOf('r.waiting_room_enabled')} as waiting_room_enabled,
      r.waiting_room_message, r.session_id, ${flagOf('(r.locked_at is not null)')} as locked, r.media,
      ${flagOf('r.relay_only')} as relay_only, ${flagOf('r.chat_enabled')} as chat_enabled`;

const listed = { returns: { ...roomFields, ...timeKey }, order: byTime('r.created_at', 'r.id', 'desc') };
const listedColumns = `${roomColumns}, ${timeKeyOf('r.created_at')}`;

const ownRooms = pagedList('list-own-rooms', {
  ...listed,
  params: callerParams,
  sql: ({ after, window }) => `
    select ${listedColumns} from rooms r where ${roomConditions.own} ${after} ${window}`,
});

const roomsOfWorkspace = pagedList('list-rooms-of-workspace', {
  ...listed,
  params: { workspaceId: int },
  sql: ({ after, window }) => `
    select ${listedColumns} from rooms r where r.workspace_id = $workspaceId ${after} ${window}`,
});

const roomByName = {
  own: declareRoomByName('own'),
  managed: declareRoomByName('managed'),
};

const publicRoom = statement('read-public-room', {
  params: { name: text, now: time, maxParticipants: int, isRelayOnly: bool },
  returns: {
    name: text,
    display_name: nullable(text),
    accent_color: text,
    waiting_room_enabled: int,
    scheduled_at: nullable(float),
    locked: int,
    media: oneOf<'mesh' | 'none'>(),
    full: int,
    relay_only: int,
    recorded: int,
    recorded_by: nullable(text),
  },
  sql: `
    select r.name, r.display_name, r.accent_color, ${flagOf('r.waiting_room_enabled')} as waiting_room_enabled,
      r.scheduled_at, ${flagOf('(r.locked_at is not null)')} as locked,
      case when ${isMesh} then 'mesh' else 'none' end as media,
      ${flagOf(`(${seatsTaken} >= $maxParticipants and ${isMesh})`)} as full,
      ${flagOf('($isRelayOnly or r.relay_only)')} as relay_only, ${flagOf('(c.id is not null)')} as recorded,
      (select p.name from participants p where p.workspace_id = c.workspace_id and p.id = c.started_by) as recorded_by
    from rooms r left join lateral (
      select c.workspace_id, c.id, c.started_by from recordings c
      where c.workspace_id = r.workspace_id and c.room_id = r.id and c.status = 'started' and c.ended_at is null
      order by c.created_at, c.id limit 1) c on true
    where r.name = $name`,
});

function declareRoomByName(relation: RoomRelation) {
  return statement(`read-${relation}-room`, {
    params: { name: text, ...callerParams },
    returns: roomFields,
    sql: `
    select ${roomColumns} from rooms r where r.name = $name and ${roomConditions[relation]}`,
  });
}

/** Lists the caller's rooms, newest first. With an API key, lists only the rooms in the key's workspace. */
export function listOwnRooms({ db }: Db, caller: Caller, page: ListPageInput): Promise<Page<Room>> {
  return readPage(db.sql, ownRooms, toCallerParams(caller), page, []);
}

/** The values of `callerParams`. */
export function toCallerParams({ userId, credential }: Caller): { userId: number; keyWorkspaceId: number | null } {
  return { userId, keyWorkspaceId: credential.kind === 'key' ? credential.workspaceId : null };
}

/** Lists all rooms of the workspace, newest first. */
export function listWorkspaceRooms({ db }: Db, { workspaceId }: Actor, page: ListPageInput): Promise<Page<Room>> {
  return readPage(db.sql, roomsOfWorkspace, { workspaceId }, page, [workspaceId]);
}

/**
 * Reads a room that the caller manages. If `relation` is `own`, the room must belong to the caller. Throws the same 404
 * for any other room and for an unknown room.
 */
export async function readRoom(
  sql: Sql,
  caller: Caller,
  input: RoomInput,
  relation: RoomRelation = 'managed',
): Promise<Room> {
  const name = readSlug(input.name);
  if (name === null) throw notFound('Room');
  const [room] = await sql.run(roomByName[relation], { name, ...toCallerParams(caller) });
  if (!room) throw notFound('Room');
  return room;
}

/** Locks the workspace of a room and reads the room. Throws the same errors as `readRoom`. */
export async function lockRoom(tx: Tx, caller: Caller, input: RoomInput, relation: RoomRelation): Promise<Room> {
  const { workspace_id } = await readRoom(sqlIn(tx), caller, input, relation);
  await lockWorkspace(tx, workspace_id, 'Room');
  // Reads the room again: during the wait for the lock, the room may have been deleted or reassigned, or the role
  // changed.
  return readRoom(sqlIn(tx), caller, input, relation);
}

/** Reads the public fields of a room. Throws 404 "Room not found". */
export async function readPublicRoom(
  { db, clock, settings: { meetings } }: Db & Pick<Services, 'clock' | 'settings'>,
  { roomName }: PublicRoomInput,
): Promise<PublicRoom> {
  const name = readSlug(roomName);
  if (name === null) throw notFound('Room');
  const { maxParticipants, isRelayOnly } = meetings;
  const [room] = await db.sql.run(publicRoom, { name, now: clock.now(), maxParticipants, isRelayOnly });
  if (!room) throw notFound('Room');
  return room;
}
