/** Reads rooms: those of a user, those of a workspace, or one by its name. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import type { ListPageInput } from '../../core/list-page.ts';
import { isSlug } from '../../core/slugs.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Database, Prisma, type Tx } from '../../db/client.ts';
import { limitOffset } from '../../db/limit-offset.ts';
import type { Services } from '../../services.ts';
import type { PublicRoom, PublicRoomInput, Room, RoomInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

type RoomRow = {
  id: number;
  workspace_id: number;
  name: string;
  user_id: number;
  display_name: string | null;
  created_at: Date;
  last_used_at: Date;
  recording_count: number;
  scheduled_at: number | null;
  accent_color: string;
  waiting_room_enabled: boolean;
  waiting_room_message: string | null;
  session_id: string | null;
};

/** The fields of the room `r`. */
const roomColumns = Prisma.sql`
  r.id, r.workspace_id, r.name, r.user_id, r.display_name, r.created_at, r.last_used_at, r.scheduled_at,
  r.accent_color, r.waiting_room_enabled, r.waiting_room_message, r.session_id,
  (select count(*)::int from recordings c where c.workspace_id = r.workspace_id and c.room_id = r.id)
    as recording_count`;

/** The condition that the room `r` is the caller's. With an API key, it must also be in the workspace of the key. */
export function isOwn({ userId, credential }: Caller): Prisma.Sql {
  return credential.kind === 'key'
    ? Prisma.sql`r.user_id = ${userId} and r.workspace_id = ${credential.workspaceId}`
    : Prisma.sql`r.user_id = ${userId}`;
}

/**
 * The condition that the caller may read and delete the room `r`: it is theirs, or they are owner or admin of its
 * workspace. With an API key, it must also be in the workspace of the key.
 */
export function isManaged(caller: Caller): Prisma.Sql {
  const { userId, credential } = caller;
  const isAdmin = Prisma.sql`exists (
    select from members a where a.workspace_id = r.workspace_id and a.user_id = ${userId}
      and a.role in ('owner', 'admin'))`;
  return credential.kind === 'key'
    ? Prisma.sql`(r.user_id = ${userId} or ${isAdmin}) and r.workspace_id = ${credential.workspaceId}`
    : Prisma.sql`(r.user_id = ${userId} or ${isAdmin})`;
}

/** The caller's rooms, newest first. With an API key, only those in its workspace. */
export function listOwnRooms(services: Db, caller: Caller, page: ListPageInput): Promise<Room[]> {
  return listRooms(services, isOwn(caller), page);
}

async function listRooms({ db }: Db, condition: Prisma.Sql, page: ListPageInput): Promise<Room[]> {
  const rows = await db.$queryRaw<RoomRow[]>`
    select ${roomColumns} from rooms r where ${condition} order by r.created_at desc, r.id desc ${limitOffset(page)}`;
  return rows.map(toRoom);
}

function toRoom(row: RoomRow): Room {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    user_id: row.user_id,
    display_name: row.display_name,
    created_at: toUnixSeconds(row.created_at),
    last_used_at: toUnixSeconds(row.last_used_at),
    recording_count: row.recording_count,
    scheduled_at: row.scheduled_at,
    accent_color: row.accent_color,
    waiting_room_enabled: row.waiting_room_enabled ? 1 : 0,
    waiting_room_message: row.waiting_room_message,
    session_id: row.session_id,
  };
}

/** All rooms of the workspace, newest first. */
export function listWorkspaceRooms(services: Db, { workspaceId }: Actor, page: ListPageInput): Promise<Room[]> {
  return listRooms(services, Prisma.sql`r.workspace_id = ${workspaceId}`, page);
}

/**
 * Reads a room that meets the condition: one that the caller manages, or only one of their own. Throws the same 404 for
 * an unknown room and for one that does not meet the condition.
 */
export async function readRoom(
  db: Database | Tx,
  caller: Caller,
  { name }: RoomInput,
  condition: typeof isOwn = isManaged,
): Promise<Room> {
  if (!isSlug(name)) throw notFound('Room');
  const [row] = await db.$queryRaw<RoomRow[]>`
    select ${roomColumns} from rooms r where r.name = ${name} and ${condition(caller)}`;
  if (!row) throw notFound('Room');
  return toRoom(row);
}

/** Locks the workspace of a room and reads the room. Throws as `readRoom` does. */
export async function lockRoom(tx: Tx, caller: Caller, input: RoomInput, condition: typeof isOwn): Promise<Room> {
  const { workspace_id } = await readRoom(tx, caller, input, condition);
  await lockWorkspace(tx, workspace_id, 'Room');
  // Read again: while the lock was awaited, the room may have been deleted or reassigned, or the role changed.
  return readRoom(tx, caller, input, condition);
}

/** Reads the public fields of a room. Throws 404 "Room not found". */
export async function readPublicRoom({ db }: Db, { roomName }: PublicRoomInput): Promise<PublicRoom> {
  if (!isSlug(roomName)) throw notFound('Room');
  // Uses SQL, because Prisma rounds numbers to 16 digits.
  const [row] = await db.$queryRaw<
    Pick<RoomRow, 'name' | 'display_name' | 'accent_color' | 'waiting_room_enabled' | 'scheduled_at'>[]
  >`
    select name, display_name, accent_color, waiting_room_enabled, scheduled_at from rooms where name = ${roomName}`;
  if (!row) throw notFound('Room');
  return {
    name: row.name,
    display_name: row.display_name,
    accent_color: row.accent_color,
    waiting_room_enabled: row.waiting_room_enabled ? 1 : 0,
    scheduled_at: row.scheduled_at,
  };
}
