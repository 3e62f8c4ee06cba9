/** Finds a room by its name, and whether the caller is one of its hosts. */
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
  /** Hosts join without waiting, and admit or refuse others. */
  isHost: boolean;
};

type Row = Omit<RoomAccess, 'isHost'> & { userId: number; role: string | null };

/** Finds a room for any caller. Throws 404 "Room not found". */
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

/** Hosts are the room's user, and the owner and admins of its workspace. An API key is limited to its workspace. */
function isHost({ userId, credential }: Caller, room: Row): boolean {
  if (credential.kind === 'key' && credential.workspaceId !== room.workspaceId) return false;
  return room.userId === userId || (room.role !== null && isAtLeast(toRole(room.role), 'admin'));
}

/** Finds a room for one of its hosts. Throws 404 "Room not found", also for every other caller. */
export async function findHostAccess(db: Database | Tx, caller: Caller, name: string): Promise<RoomAccess> {
  const access = await findRoomAccess(db, caller, name);
  if (!access.isHost) throw notFound('Room');
  return access;
}

/** Locks the workspace of the room and calls `find` again, since the room or the roles may have changed. */
export async function lockRoomAccess(tx: Tx, find: (tx: Tx) => Promise<RoomAccess>): Promise<RoomAccess> {
  const { workspaceId } = await find(tx);
  await lockWorkspace(tx, workspaceId, 'Room');
  return find(tx);
}
