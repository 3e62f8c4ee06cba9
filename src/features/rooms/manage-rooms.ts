/** Updates and deletes rooms that the caller manages. The role is checked with the workspace locked. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Caller } from '../../auth/identify.ts';
import { lockRoomRow } from '../../auth/room-lock.ts';
import { requireCurrentRole } from '../../auth/workspace-lock.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { removeFilesOfCall } from '../../storage/discarded-objects.ts';
import { cancelBookingOfRoom } from '../booking-mails/end-bookings.ts';
import { admitEveryone, emitLeftForRoom } from '../participants/participant-lifecycle.ts';
import { refuseWaitingOthers } from '../participants/room-limits.ts';
import { lockRoom, readRoom } from './read-rooms.ts';
import { changeSettings, requireTurn, toChanged, withUniqueSession } from './room-settings.ts';
import type { Room, RoomInput, UpdateRoomInput } from './schemas.ts';

/** The settings that decide who may enter a room, record in it and watch its recordings. */
const accessSettings = ['max_participants', 'members_only', 'recordings_visible_to', 'who_may_record'] as const;

const removeRoom = statement('delete-room', {
  params: { workspaceId: int, roomId: int, recordings: int, ...auditParams },
  sql: `
    with deleted as (delete from rooms where workspace_id = $workspaceId and id = $roomId returning id, name)
    ${insertAuditFrom('deleted', {
      target: 'room',
      action: 'room.deleted',
      targetId: 'id',
      details: "json_build_object('name', name, 'before', json_build_object('recordings', $recordings))",
    })}`,
});

/**
 * Changes the settings that are present in the input. Switching the waiting room off admits everyone who is waiting, as
 * long as the room has places. Making the room only for members refuses others who are waiting; nobody who is in the
 * room has to leave because of a setting. Throws 400 for `relay_only` without a TURN server, 404, 403 if the caller is
 * not the owner or an admin of the workspace, and 409 if another room of the workspace has the session id.
 */
export async function updateRoom(
  { db, clock, settings: config }: Pick<Services, 'db' | 'clock' | 'settings'>,
  caller: Caller,
  { name, ...settings }: UpdateRoomInput,
): Promise<Room> {
  requireTurn(config, settings);
  return transact(db, async (tx) => {
    const room = await lockRoomAsAdmin(tx, caller, { name });
    const changed = toChanged(settings);
    if (Object.keys(changed).length === 0) return room;
    const key = { workspaceId: room.workspace_id, roomId: room.id };
    // Waits for joins in progress to commit, so that those that follow see the new limits.
    if (settings.max_participants !== undefined || settings.members_only !== undefined)
      await lockRoomRow(tx, key.workspaceId, key.roomId);
    await withUniqueSession(() => sqlIn(tx).run(changeSettings, { ...key, changed }));
    if (settings.members_only) await refuseWaitingOthers(sqlIn(tx), key);
    if (settings.waiting_room_enabled !== undefined && !settings.waiting_room_enabled)
      await admitEveryone(sqlIn(tx), clock.now(), key, config.quotas);
    const after = await readRoom(sqlIn(tx), caller, { name });
    await auditAccess(tx, caller, clock.now(), room, after);
    return after;
  });
}

/** Records in the audit log which settings changed who may enter, record and watch. */
async function auditAccess(tx: Tx, caller: Caller, at: Date, before: Room, after: Room): Promise<void> {
  const changed = accessSettings.filter((setting) => before[setting] !== after[setting]);
  if (changed.length === 0) return;
  const pick = (room: Room) => Object.fromEntries(changed.map((setting) => [setting, room[setting]]));
  await recordAudit(tx, {
    workspaceId: after.workspace_id,
    at,
    actor: auditActorOf(caller),
    action: 'room.access_changed',
    target: { kind: 'room', id: after.id, name: after.name },
    before: pick(before),
    after: pick(after),
  });
}

/** Locks the workspace and returns the room. Throws 404, and 403 if the caller is no longer the owner or an admin. */
async function lockRoomAsAdmin(tx: Tx, caller: Caller, input: RoomInput): Promise<Room> {
  const room = await lockRoom(tx, caller, input);
  await requireCurrentRole(tx, { ...caller, workspaceId: room.workspace_id }, 'admin');
  return room;
}

/**
 * Deletes a room that the caller manages, with its recordings and their files, and emits `room.left` for each
 * participant in it. Cancels an upcoming booking of the room. If there are many files or the store is unavailable, the
 * files are deleted later. Throws 404, and 403 if the caller is not the owner or an admin of the workspace.
 */
export async function deleteRoom(services: Services, caller: Caller, { name }: RoomInput): Promise<{ ok: true }> {
  const fileKeys = await transact(services.db, async (tx) => {
    const { workspace_id: workspaceId, id } = await lockRoomAsAdmin(tx, caller, { name });
    const recordings = await tx.recording.findMany({ where: { workspaceId, roomId: id }, select: { fileKey: true } });
    // Waits for joins in progress to commit, and prevents new joins.
    await lockRoomRow(tx, workspaceId, id);
    const room = { workspaceId, roomId: id, roomName: name, userId: caller.userId };
    await cancelBookingOfRoom(services, sqlIn(tx), { ...room, at: services.clock.now() });
    await emitLeftForRoom(sqlIn(tx), services.clock.now(), workspaceId, id);
    const audit = toAuditParams(auditActorOf(caller), services.clock.now());
    await sqlIn(tx).run(removeRoom, { workspaceId, roomId: id, recordings: recordings.length, ...audit });
    return recordings.flatMap(({ fileKey }) => fileKey ?? []);
  });
  await removeFilesOfCall(services, fileKeys);
  return { ok: true };
}
