/** A room, and what somebody may do there who would enter it, or let others in. */
import type { Caller } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { isSlug } from '../../core/slugs.ts';
import type { Database, Tx } from '../../db/client.ts';

export type RoomAccess = {
  workspaceId: number;
  roomId: number;
  hasWaitingRoom: boolean;
  waitingRoomMessage: string | null;
  /** Whether the caller goes in without waiting, and lets others in. */
  isHost: boolean;
};

type Row = Omit<RoomAccess, 'isHost'> & { userId: number; role: string | null };

/** The room `name`, whoever calls. Throws 404 "Room not found". */
export async function findRoomAccess(db: Database | Tx, caller: Caller | null, name: string): Promise<RoomAccess> {
  if (!isSlug(name)) throw notFound('Room');
  const [row] = await db.$queryRaw<Row[]>`
    select r.workspace_id as "workspaceId", r.id as "roomId", r.user_id as "userId",
      r.waiting_room_enabled as "hasWaitingRoom", r.waiting_room_message as "waitingRoomMessage", m.role
    from rooms r left join members m on m.workspace_id = r.workspace_id and m.user_id = ${caller?.userId ?? null}::int
    where r.name = ${name}`;
  if (!row) throw notFound('Room');
  const { workspaceId, roomId, hasWaitingRoom, waitingRoomMessage } = row;
  return { workspaceId, roomId, hasWaitingRoom, waitingRoomMessage, isHost: caller !== null && isHost(caller, row) };
}

/** The room's user, and owner and admin of its workspace; by a key, in its one workspace. */
function isHost({ userId, credential }: Caller, room: Row): boolean {
  if (credential.kind === 'key' && credential.workspaceId !== room.workspaceId) return false;
  return room.userId === userId || (room.role !== null && isAtLeast(toRole(room.role), 'admin'));
}

/** The room `name` for its hosts; to everybody else there is none. Throws 404 "Room not found". */
export async function findHostAccess(db: Database | Tx, caller: Caller, name: string): Promise<RoomAccess> {
  const access = await findRoomAccess(db, caller, name);
  if (!access.isHost) throw notFound('Room');
  return access;
}

/** What `find` finds, once more behind the lock of its workspace: room and roles may have changed before it was had. */
export async function lockRoomAccess(tx: Tx, find: (tx: Tx) => Promise<RoomAccess>): Promise<RoomAccess> {
  const { workspaceId } = await find(tx);
  await lockWorkspace(tx, workspaceId, 'Room');
  return find(tx);
}
