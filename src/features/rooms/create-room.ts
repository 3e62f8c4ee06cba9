/** Creates rooms, for the API and for bookings. */
import type { Caller } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Sql } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { readRoom } from './read-rooms.ts';
import { blankToNull, withUniqueSession } from './room-settings.ts';
import { type CreateRoomInput, DEFAULT_COLOR, type Room, type RoomSettings } from './schemas.ts';
import { suggestRoomName } from './suggest-room-name.ts';

type NewRoom = RoomSettings & { workspaceId: number; name?: string | undefined; createdAt: Date };

type RoomIdentity = { workspaceId: number; userId: number; name: string; createdAt: Date };

const MAX_TRIES = 10;

/**
 * Creates a room and emits `room.created`. Without a name, the room gets one from `suggest`. The role is checked with
 * the workspace locked, so a concurrent demotion takes effect before or after, never in between.
 *
 * Throws 404 "Workspace not found", 403, and 409 if the name is taken, another room of the workspace has the session
 * id, or the workspace has reached its quota.
 */
export async function createRoom(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  caller: Caller,
  { workspace_id, ...room }: CreateRoomInput,
  suggest: (sql: Sql) => Promise<string> = suggestRoomName,
): Promise<Room> {
  return transact(db, async (tx) => {
    const workspaceId =
      workspace_id === undefined
        ? await findDefaultWorkspace(tx, caller)
        : await requireWorkspaceAccess(tx, caller, workspace_id);
    const workspace = await lockWorkspaceAs(tx, { workspaceId, userId: caller.userId }, 'admin');
    requireWithinQuota(settings.quotas, 'rooms', workspace.room_count + 1);
    const { name } = await addRoom(tx, caller, { ...room, workspaceId, createdAt: clock.now() }, suggest);
    return readRoom(sqlIn(tx), caller, { name });
  });
}

/** The workspace of a room without `workspace_id`: with an API key, its workspace; otherwise Personal. */
async function findDefaultWorkspace(tx: Tx, { userId, credential }: Caller): Promise<number> {
  if (credential.kind === 'key') return credential.workspaceId;
  const personal = await tx.workspace.findFirst({
    where: { ownerId: userId, isPersonal: true },
    select: { id: true },
  });
  if (personal === null) throw notFound('Workspace');
  return personal.id;
}

/**
 * Throws 404 and 403 without locking the workspace, so that callers without access do not occupy a connection while
 * they wait for the lock.
 */
async function requireWorkspaceAccess(tx: Tx, { userId, credential }: Caller, workspaceId: number): Promise<number> {
  const [found] = await tx.$queryRaw<{ role: string | null }[]>`
    select m.role from workspaces w
    left join members m on m.workspace_id = w.id and m.user_id = ${userId}
    where w.id = ${workspaceId}`;
  if (!found) throw notFound('Workspace');
  if (credential.kind === 'key' && credential.workspaceId !== workspaceId) throw forbidden();
  if (found.role === null || !isAtLeast(toRole(found.role), 'admin')) throw forbidden();
  return workspaceId;
}

/**
 * Adds a room that belongs to `creator` and emits `room.created`. Call it with the workspace locked; it does not check
 * the role of the creator. Without a name, the room gets one from `suggest`, or another one if that has just been
 * taken. Throws 409 if the requested name is taken or another room of the workspace has the session id.
 */
export async function addRoom(
  tx: Tx,
  creator: Pick<Caller, 'userId' | 'name'>,
  { workspaceId, name: requested, createdAt, ...settings }: NewRoom,
  suggest: (sql: Sql) => Promise<string> = suggestRoomName,
): Promise<{ id: number; name: string }> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const name = requested ?? (await suggest(sqlIn(tx)));
    const room = { workspaceId, userId: creator.userId, name, createdAt };
    const id = await withUniqueSession(() => insertRoom(tx, room, settings));
    if (id === undefined && requested !== undefined) throw conflict('Room name already taken');
    if (id === undefined) continue;
    await emit(sqlIn(tx), createdAt, {
      type: 'room.created',
      workspaceId,
      data: {
        workspace_id: workspaceId,
        room_id: id,
        room_name: name,
        display_name: blankToNull(settings.display_name),
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

/**
 * Returns the id of the new room; undefined if the name is taken. Uses SQL, because Prisma rounds numbers to 16 digits.
 */
async function insertRoom(
  tx: Tx,
  { workspaceId, userId, name, createdAt }: RoomIdentity,
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
    values (${workspaceId}, ${name}, ${userId}, ${blankToNull(display_name)}, ${scheduled_at}::float8, ${accent_color},
      ${Boolean(waiting_room_enabled)}, ${waiting_room_message}, ${blankToNull(session_id)}, ${createdAt}, ${createdAt})
    on conflict (name) do nothing returning id`;
  return row?.id;
}
