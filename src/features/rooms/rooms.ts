/**
 * Creating, changing and deleting rooms. Each takes the workspace's row first and looks at the caller's role behind
 * that lock: who leaves or is demoted meanwhile either was still allowed, or is refused.
 */
import type { Caller } from '../../auth/identify.ts';
import { lockWorkspaceAs, requireCurrentRole } from '../../auth/workspace-lock.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { isUniqueViolation, Prisma, type Tx, transact } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObject, removeDiscardedObjects } from '../../storage/discarded-objects.ts';
import { emitLeftForRoom } from '../participants/participant-lifecycle.ts';
import { lockOwnRoom, readRoom } from './read-rooms.ts';
import {
  type CreateRoomInput,
  DEFAULT_COLOR,
  type Room,
  type RoomInput,
  type RoomSettings,
  type UpdateRoomInput,
} from './schemas.ts';
import { suggestRoomName } from './suggest-room-name.ts';

type NewRoom = { workspaceId: number; userId: number; name: string; createdAt: Date };

const MAX_TRIES = 10;

type RoomToAdd = RoomSettings & { workspaceId: number; name?: string | undefined; createdAt: Date };

/** So many files are removed before the answer; nobody waits for more. */
const MAX_AWAITED = 20;

/**
 * Adds a room of `creator` and emits `room.created`. Call it behind the workspace's lock, with somebody who may have
 * rooms there. Without a name it gets one from `suggest`, another one where somebody was faster. Throws 409 for a name
 * that is taken, and for another room's session.
 */
export async function addRoom(
  tx: Tx,
  creator: Pick<Caller, 'userId' | 'name'>,
  { workspaceId, name: wanted, createdAt, ...settings }: RoomToAdd,
  suggest: (tx: Tx) => Promise<string> = suggestRoomName,
): Promise<{ id: number; name: string }> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const name = wanted ?? (await suggest(tx));
    const room = { workspaceId, userId: creator.userId, name, createdAt };
    const id = await withOwnSession(() => insertRoom(tx, room, settings));
    if (id === undefined && wanted !== undefined) throw conflict('Room name already taken');
    if (id === undefined) continue;
    await emit(tx, createdAt, {
      type: 'room.created',
      workspaceId,
      data: {
        workspace_id: workspaceId,
        room_id: id,
        room_name: name,
        display_name: toLine(settings.display_name ?? null),
        created_by: creator.name,
        created_by_id: creator.userId,
        scheduled_at: settings.scheduled_at ?? null,
        created_at: toUnixSeconds(createdAt),
      },
    });
    return { id, name };
  }
  throw new Error(`No free room name after ${MAX_TRIES} tries`);
}

/** Runs what writes a room. Throws 409 where another room of the workspace has the session. */
async function withOwnSession<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    // The one other unique text of a room, its name, is not refused but left as it is.
    if (isUniqueViolation(error)) throw conflict('Session is already used by another room');
    throw error;
  }
}

/** The id of the new room; undefined where the name is taken. In SQL, since Prisma rounds numbers to 16 digits. */
async function insertRoom(
  tx: Tx,
  { workspaceId, userId, name, createdAt }: NewRoom,
  {
    scheduled_at = null,
    accent_color = DEFAULT_COLOR,
    waiting_room_enabled = false,
    waiting_room_message = null,
    display_name = null,
    session_id = null,
  }: RoomSettings,
): Promise<number | undefined> {
  const [row] = await tx.$queryRaw<{ id: number }[]>`
    insert into rooms (workspace_id, name, user_id, display_name, scheduled_at, accent_color, waiting_room_enabled,
      waiting_room_message, session_id, created_at, last_used_at)
    values (${workspaceId}, ${name}, ${userId}, ${toLine(display_name)}, ${scheduled_at}::float8, ${accent_color},
      ${Boolean(waiting_room_enabled)}, ${waiting_room_message}, ${toLine(session_id)}, ${createdAt}, ${createdAt})
    on conflict (name) do nothing returning id`;
  return row?.id;
}

/** A blank line is none. */
function toLine(text: string | null): string | null {
  return text || null;
}

/**
 * Creates a room and emits `room.created`. Without a name it gets one from `suggest`, another one where somebody was
 * faster. Throws 404 "Workspace not found", 403, and 409 for a name that is taken, and for another
 * room's session.
 */
export async function createRoom(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  { workspace_id, ...room }: CreateRoomInput,
  suggest: (tx: Tx) => Promise<string> = suggestRoomName,
): Promise<Room> {
  return transact(db, async (tx) => {
    const workspaceId =
      workspace_id === undefined ? await defaultWorkspaceOf(tx, caller) : await openWorkspace(tx, caller, workspace_id);
    await lockWorkspaceAs(tx, { workspaceId, userId: caller.userId }, 'admin');
    const { name } = await addRoom(tx, caller, { ...room, workspaceId, createdAt: clock.now() }, suggest);
    return readRoom(tx, caller, { name });
  });
}

/** Where a room goes that names no workspace. */
async function defaultWorkspaceOf(tx: Tx, { userId, credential }: Caller): Promise<number> {
  if (credential.kind === 'key') return credential.workspaceId;
  const personal = await tx.workspace.findFirst({
    where: { ownerId: userId, isPersonal: true },
    select: { id: true },
  });
  if (personal === null) throw notFound('Workspace');
  return personal.id;
}

/**
 * The workspace that a room is asked for in. Throws 404 and 403 without taking its row: strangers must not wait for it,
 * and hold a connection while they do.
 */
async function openWorkspace(tx: Tx, { userId, credential }: Caller, workspaceId: number): Promise<number> {
  const [found] = await tx.$queryRaw<{ role: string | null }[]>`
    select m.role from workspaces w
    left join members m on m.workspace_id = w.id and m.user_id = ${userId}
    where w.id = ${workspaceId}`;
  if (!found) throw notFound('Workspace');
  if (credential.kind === 'key' && credential.workspaceId !== workspaceId) throw forbidden();
  if (found.role === null || !isAtLeast(toRole(found.role), 'admin')) throw forbidden();
  return workspaceId;
}

/** Changes what is sent. Throws 404, 403 for a role too low in its workspace, and 409 for another room's session. */
export async function updateRoom(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  { name, ...settings }: UpdateRoomInput,
): Promise<Room> {
  return transact(db, async (tx) => {
    const room = await lockRoom(tx, caller, { name });
    const assignments = toAssignments(settings);
    if (assignments.length === 0) return room;
    await withOwnSession(
      () => tx.$executeRaw`
        update rooms set ${Prisma.join(assignments)} where workspace_id = ${room.workspace_id} and id = ${room.id}`,
    );
    return readRoom(tx, caller, { name });
  });
}

/** The caller's room, behind the lock of its workspace. Throws 404, and 403 for who may not change it now. */
async function lockRoom(tx: Tx, caller: Caller, input: RoomInput): Promise<Room> {
  const room = await lockOwnRoom(tx, caller, input);
  await requireCurrentRole(tx, { workspaceId: room.workspace_id, userId: caller.userId }, 'admin');
  return room;
}

/** What is sent, as assignments. */
function toAssignments(settings: RoomSettings): Prisma.Sql[] {
  const { scheduled_at, accent_color, waiting_room_enabled, waiting_room_message, display_name, session_id } = settings;
  return [
    ...(scheduled_at === undefined ? [] : [Prisma.sql`scheduled_at = ${scheduled_at}::float8`]),
    ...(accent_color === undefined ? [] : [Prisma.sql`accent_color = ${accent_color}`]),
    ...(waiting_room_enabled === undefined
      ? []
      : [Prisma.sql`waiting_room_enabled = ${Boolean(waiting_room_enabled)}`]),
    ...(waiting_room_message === undefined ? [] : [Prisma.sql`waiting_room_message = ${waiting_room_message}`]),
    ...(display_name === undefined ? [] : [Prisma.sql`display_name = ${toLine(display_name)}`]),
    ...(session_id === undefined ? [] : [Prisma.sql`session_id = ${toLine(session_id)}`]),
  ];
}

/**
 * Deletes a room with its recordings and their files, which where the store is down or there are many go later. Emits
 * `room.left` for everyone who is in it. Throws 404, and 403 for a role too low in its workspace.
 */
export async function deleteRoom(services: Services, caller: Caller, { name }: RoomInput): Promise<{ ok: true }> {
  const keys = await transact(services.db, async (tx) => {
    const { workspace_id: workspaceId, id } = await lockRoom(tx, caller, { name });
    const recordings = await tx.recording.findMany({ where: { workspaceId, roomId: id }, select: { fileKey: true } });
    await emitLeftForRoom(tx, services.clock.now(), workspaceId, id);
    await tx.room.deleteMany({ where: { workspaceId, id } });
    return recordings.flatMap(({ fileKey }) => fileKey ?? []);
  });
  if (keys.length <= MAX_AWAITED) await Promise.all(keys.map((key) => removeDiscardedObject(services, key)));
  else void removeDiscardedObjects(services);
  return { ok: true };
}
