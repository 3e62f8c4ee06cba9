/** Finds a room by its name and checks whether the caller is one of its hosts. */
import type { Caller } from '../../auth/identify.ts';
import type { PassHolder, RoomHost } from '../../auth/participants.ts';
import { lockRoomRow } from '../../auth/room-lock.ts';
import { requireSatisfied } from '../../auth/sign-in-requirements.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { readSlug } from '../../core/slugs.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';

export type RoomAccess = {
  workspaceId: number;
  roomId: number;
  hasWaitingRoom: boolean;
  waitingRoomMessage: string | null;
  /** Hosts join without waiting, and admit or refuse others. */
  isHost: boolean;
  /** Members of the workspace join without waiting, unless a host has removed them or locked the room. */
  isMember: boolean;
  isLocked: boolean;
};

/** The parameters of `isHost`: the caller, and the workspace of their API key. */
export const hostParams = { userId: nullable(int), keyWorkspaceId: nullable(int) };

/**
 * The condition that the caller is a host of the room `r`: the user to whom the room belongs, or the owner or an admin
 * of its workspace. `m` is the caller's row in `members`. An API key gives access only to its own workspace.
 */
export const isHost = `coalesce(r.user_id = $userId or m.role in ('owner', 'admin'), false)
  and ($keyWorkspaceId is null or r.workspace_id = $keyWorkspaceId)`;

/** The condition that the caller is a member of the workspace of the room. `m` is the caller's row in `members`. */
export const isMember = 'm.role is not null';

const accessReturns = {
  workspaceId: int,
  roomId: int,
  hasWaitingRoom: bool,
  waitingRoomMessage: nullable(text),
  isLocked: bool,
  isHost: bool,
  isMember: bool,
};
const accessColumns = `r.workspace_id as "workspaceId", r.id as "roomId", r.waiting_room_enabled as "hasWaitingRoom",
      r.waiting_room_message as "waitingRoomMessage", r.locked_at is not null as "isLocked"`;

const findRoom = statement('find-room-access', {
  params: { name: text, ...hostParams },
  returns: accessReturns,
  sql: `
    select ${accessColumns}, ${isHost} as "isHost", ${isMember} as "isMember"
    from rooms r left join members m on m.workspace_id = r.workspace_id and m.user_id = $userId
    where r.name = $name`,
});

const findRoomOfPass = statement('find-room-access-by-pass', {
  params: { workspaceId: int, participantId: int, at: time },
  returns: accessReturns,
  sql: `
    select ${accessColumns},
      p.status = 'joined' and is_pass_host(p.workspace_id, p.pass_id, $at) as "isHost", false as "isMember"
    from participants p join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id
    where p.workspace_id = $workspaceId and p.id = $participantId`,
});

/** The values of `hostParams`. */
export function toHost(caller: Caller | null): { userId: number | null; keyWorkspaceId: number | null } {
  const credential = caller?.credential;
  return {
    userId: caller?.userId ?? null,
    keyWorkspaceId: credential?.kind === 'key' ? credential.workspaceId : null,
  };
}

/** Finds a room for any caller. Throws 404 "Room not found", and 403 as `requireSatisfied` does. */
export async function findRoomAccess(sql: Sql, caller: Caller | null, roomName: string): Promise<RoomAccess> {
  const name = readSlug(roomName);
  if (name === null) throw notFound('Room');
  const [access] = await sql.run(findRoom, { name, ...toHost(caller) });
  if (!access) throw notFound('Room');
  if (caller !== null) requireSatisfied(caller, access.workspaceId);
  return access;
}

/**
 * Finds a room for one of its hosts. Throws 404 "Room not found" for everyone else, and 403 for a participant of the
 * room who is not a host by their pass, or has not joined.
 */
export async function findHostAccess(sql: Sql, host: RoomHost, name: string): Promise<RoomAccess> {
  if ('participant' in host) return findAccessByPass(sql, host, name);
  const access = await findRoomAccess(sql, host, name);
  if (!access.isHost) throw notFound('Room');
  return access;
}

async function findAccessByPass(sql: Sql, { participant, at }: PassHolder, name: string): Promise<RoomAccess> {
  const { id: participantId, workspaceId, roomName } = participant;
  if (readSlug(name) !== roomName) throw notFound('Room');
  const [access] = await sql.run(findRoomOfPass, { workspaceId, participantId, at });
  if (!access) throw notFound('Room');
  if (!access.isHost) throw forbidden();
  return access;
}

/**
 * Locks the workspace and the room, so that nobody can join before the commit. Waits for joins in progress. Throws the
 * same errors as `findHostAccess`.
 */
export async function lockRoomAsHost(tx: Tx, host: RoomHost, name: string): Promise<RoomAccess> {
  const access = await lockRoomAccess(tx, (sql) => findHostAccess(sql, host, name));
  await lockRoomRow(tx, access.workspaceId, access.roomId);
  return access;
}

/** Locks the workspace of the room and calls `find` again, because the room or the roles may have changed. */
export async function lockRoomAccess(tx: Tx, find: (sql: Sql) => Promise<RoomAccess>): Promise<RoomAccess> {
  const { workspaceId } = await find(sqlIn(tx));
  await lockWorkspace(tx, workspaceId, 'Room');
  return find(sqlIn(tx));
}
