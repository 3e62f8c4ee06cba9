/**
 * Creating, changing and deleting rooms. Each takes the workspace's row first and looks at the caller's role behind
 * that lock: who leaves or is demoted meanwhile either was still allowed, or is refused.
 */
import type { Caller } from '../../auth/identify.ts';
import { conflict, forbidden, notFound, type Thing } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { Prisma, type Tx, transact } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObject, removeDiscardedObjects } from '../../storage/discarded-objects.ts';
import { lockWorkspace, requireRoleNow } from '../members/lock-workspace.ts';
import { readRoom } from './read-rooms.ts';
import { suggestRoomName } from './room-name.ts';
import {
  type CreateRoomInput,
  DEFAULT_COLOR,
  type Room,
  type RoomInput,
  type RoomSettings,
  type UpdateRoomInput,
} from './schemas.ts';

/** Takes the workspace's row. Throws 404 `otherwise` where it is gone, and 403 for who may not change its rooms now. */
const requireWriter = async (tx: Tx, caller: Caller, workspaceId: number, otherwise: Thing): Promise<void> => {
  await lockWorkspace(tx, workspaceId, otherwise);
  await requireRoleNow(tx, { workspaceId, userId: caller.userId }, 'admin');
};

/**
 * The workspace that a room is asked for in. Throws 404 and 403 without taking its row: strangers must not wait for it,
 * and hold a connection while they do.
 */
const openWorkspace = async (tx: Tx, { userId, credential }: Caller, workspaceId: number): Promise<number> => {
  const [found] = await tx.$queryRaw<{ role: string | null }[]>`
    select m.role from workspaces w
    left join members m on m.workspace_id = w.id and m.user_id = ${userId}
    where w.id = ${workspaceId}`;
  if (!found) throw notFound('Workspace');
  if (credential.kind === 'key' && credential.workspaceId !== workspaceId) throw forbidden();
  if (found.role === null || !isAtLeast(toRole(found.role), 'admin')) throw forbidden();
  return workspaceId;
};

/** Where a room goes that names no workspace. */
const defaultWorkspaceOf = async (tx: Tx, { userId, credential }: Caller): Promise<number> => {
  if (credential.kind === 'key') return credential.workspaceId;
  const personal = await tx.workspace.findFirst({
    where: { ownerId: userId, isPersonal: true },
    select: { id: true },
  });
  if (personal === null) throw notFound('Workspace');
  return personal.id;
};

/** A blank display name is none. */
const toDisplayName = (text: string | null): string | null => text || null;

type NewRoom = { workspaceId: number; userId: number; name: string; createdAt: Date };

/** Whether it could be inserted: not where the name is taken. In SQL, since Prisma rounds numbers to 16 digits. */
const insertRoom = async (
  tx: Tx,
  { workspaceId, userId, name, createdAt }: NewRoom,
  {
    scheduled_at = null,
    accent_color = DEFAULT_COLOR,
    waiting_room_enabled = false,
    waiting_room_message = null,
    display_name = null,
  }: RoomSettings,
): Promise<boolean> => {
  const count = await tx.$executeRaw`
    insert into rooms (workspace_id, name, user_id, display_name, scheduled_at, accent_color, waiting_room_enabled,
      waiting_room_message, created_at, last_used_at)
    values (${workspaceId}, ${name}, ${userId}, ${toDisplayName(display_name)}, ${scheduled_at}::float8, ${accent_color},
      ${Boolean(waiting_room_enabled)}, ${waiting_room_message}, ${createdAt}, ${createdAt})
    on conflict (name) do nothing`;
  return count === 1;
};

/** What is sent, as assignments. */
const toAssignments = (settings: RoomSettings): Prisma.Sql[] => {
  const { scheduled_at, accent_color, waiting_room_enabled, waiting_room_message, display_name } = settings;
  return [
    ...(scheduled_at === undefined ? [] : [Prisma.sql`scheduled_at = ${scheduled_at}::float8`]),
    ...(accent_color === undefined ? [] : [Prisma.sql`accent_color = ${accent_color}`]),
    ...(waiting_room_enabled === undefined
      ? []
      : [Prisma.sql`waiting_room_enabled = ${Boolean(waiting_room_enabled)}`]),
    ...(waiting_room_message === undefined ? [] : [Prisma.sql`waiting_room_message = ${waiting_room_message}`]),
    ...(display_name === undefined ? [] : [Prisma.sql`display_name = ${toDisplayName(display_name)}`]),
  ];
};

const MOST_TRIES = 10;

/**
 * Creates a room and emits `room.created`. Without a name it gets one from `suggest`, another one where somebody was
 * faster. Throws 404 "Workspace not found", 403, and 409 for a name that is taken.
 */
export const createRoom = async (
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  { name: wanted, workspace_id, ...settings }: CreateRoomInput,
  suggest: (tx: Tx) => Promise<string> = suggestRoomName,
): Promise<Room> =>
  transact(db, async (tx) => {
    const workspaceId =
      workspace_id === undefined ? await defaultWorkspaceOf(tx, caller) : await openWorkspace(tx, caller, workspace_id);
    await requireWriter(tx, caller, workspaceId, 'Workspace');
    const createdAt = clock.now();
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const name = wanted ?? (await suggest(tx));
      const isInserted = await insertRoom(tx, { workspaceId, userId: caller.userId, name, createdAt }, settings);
      if (!isInserted && wanted !== undefined) throw conflict('Room name already taken');
      if (!isInserted) continue;
      const room = await readRoom(tx, caller, { name });
      await emit(tx, createdAt, {
        type: 'room.created',
        workspaceId,
        data: {
          workspace_id: workspaceId,
          room_id: room.id,
          room_name: room.name,
          display_name: room.display_name,
          created_by: caller.name,
          created_by_id: caller.userId,
          scheduled_at: room.scheduled_at,
          created_at: toUnixSeconds(createdAt),
        },
      });
      return room;
    }
    throw new Error(`No free room name after ${MOST_TRIES} tries`);
  });

/** The caller's room, behind the lock of its workspace. Throws 404, and 403 for who may not change it now. */
const lockRoom = async (tx: Tx, caller: Caller, input: RoomInput): Promise<Room> => {
  const { workspace_id } = await readRoom(tx, caller, input);
  await requireWriter(tx, caller, workspace_id, 'Room');
  // Again: it may have been deleted before the lock was had.
  return readRoom(tx, caller, input);
};

/** Changes what is sent. Throws 404, and 403 for a role too low in its workspace. */
export const updateRoom = async (
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  { name, ...settings }: UpdateRoomInput,
): Promise<Room> =>
  transact(db, async (tx) => {
    const room = await lockRoom(tx, caller, { name });
    const assignments = toAssignments(settings);
    if (assignments.length === 0) return room;
    await tx.$executeRaw`
      update rooms set ${Prisma.join(assignments)} where workspace_id = ${room.workspace_id} and id = ${room.id}`;
    return readRoom(tx, caller, { name });
  });

/** So many files are removed before the answer; nobody waits for more. */
const MOST_AWAITED = 20;

/**
 * Deletes a room with its recordings and their files, which where the store is down or there are many go later.
 * Throws 404, and 403 for a role too low in its workspace.
 */
export const deleteRoom = async (services: Services, caller: Caller, { name }: RoomInput): Promise<{ ok: true }> => {
  const keys = await transact(services.db, async (tx) => {
    const { workspace_id: workspaceId, id } = await lockRoom(tx, caller, { name });
    const recordings = await tx.recording.findMany({ where: { workspaceId, roomId: id }, select: { fileKey: true } });
    await tx.room.deleteMany({ where: { workspaceId, id } });
    return recordings.flatMap(({ fileKey }) => fileKey ?? []);
  });
  if (keys.length <= MOST_AWAITED) await Promise.all(keys.map((key) => removeDiscardedObject(services, key)));
  else void removeDiscardedObjects(services);
  return { ok: true };
};
