/** Starts and stops recordings, for a user or for a participant in the room. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../auth/identify.ts';
import type { RoomCaller } from '../../auth/participants.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict, conflictForNow, forbidden, notFound } from '../../core/errors.ts';
import { unfinishedStatuses } from '../../core/recording-status.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, text } from '../../db/statements.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { lockRoom } from '../rooms/read-rooms.ts';
import type { RoomInput } from '../rooms/schemas.ts';
import { endAbandonedRecordings } from './abandoned-recordings.ts';
import { addEgress, requireEgress } from './egress.ts';
import { readRecording } from './read-recordings.ts';
import { forgetDeletion } from './recording-deletions.ts';
import { addRecording, type RoomKey } from './recording-lifecycle.ts';
import { requireMayRecord, requireMayStop } from './recording-rights.ts';
import type {
  NewRecordingInput,
  Recording,
  RecordingInput,
  RoomRecordingInput,
  StartedRecording,
  StartRecordingInput,
} from './schemas.ts';
import { requireByteAllowance, requireWithinStartLimits } from './start-limits.ts';

type Needs = Pick<Services, 'db' | 'clock'>;

type NewRecording = {
  title?: string | null | undefined;
  archive_id?: string | undefined;
  startedBy?: number;
  /** How many bytes the file may have. */
  maxBytes: number;
};

/**
 * Starts a recording in a room that the caller manages, and emits `recording.started`. The upload token is returned
 * only here. A running recording ends if the participant who started it has left. `origin` is the origin of the
 * recording's URL.
 *
 * Throws 404 "Room not found", and 409 if another recording is running in the room or the room already has the
 * archive_id.
 */
export function startRecordingByUser(
  { db, clock, settings }: Needs & Pick<Services, 'settings'>,
  caller: Caller,
  { name, ...recording }: StartRecordingInput,
  origin: string,
): Promise<StartedRecording> {
  const details = { ...recording, maxBytes: settings.maxRecordingBytes };
  return transact(db, async (tx) =>
    startRecording(tx, clock.now(), await lockRoomOfUser(tx, caller, { name }), details, origin),
  );
}

async function startRecording(
  tx: Tx,
  at: Date,
  room: RoomKey,
  { title, archive_id: sentArchiveId, startedBy, maxBytes }: NewRecording,
  origin: string,
): Promise<StartedRecording> {
  const token = createToken('lnr_');
  await endAbandonedRecordings(sqlIn(tx), at, room);
  if (sentArchiveId !== undefined) await forgetDeletion(tx, { ...room, archiveId: sentArchiveId });
  const archiveId = sentArchiveId ?? createArchiveId();
  const recordingId = await addRecording(tx, at, {
    ...room,
    archiveId,
    // Blank becomes null.
    title: title || null,
    uploadTokenHash: hashToken(token),
    ...(startedBy !== undefined && { startedBy }),
  });
  if (recordingId !== null) {
    const recording = await readRecording(sqlIn(tx), { workspaceId: room.workspaceId, recordingId }, origin);
    return { recording, upload_token: token, max_bytes: maxBytes };
  }
  const exists = (await tx.recording.count({ where: { ...room, archiveId } })) > 0;
  throw exists
    ? conflict('A recording with this archive_id already exists')
    : conflictForNow('A recording is already running in this room');
}

function createArchiveId(): string {
  return `rec_${randomUUID().replaceAll('-', '')}`;
}

/** Locks the workspace of a room that the caller manages. */
async function lockRoomOfUser(tx: Tx, caller: Caller, input: RoomInput): Promise<RoomKey> {
  const { workspace_id, id } = await lockRoom(tx, caller, input);
  return { workspaceId: workspace_id, roomId: id };
}

/**
 * Like `startRecordingByUser`, but guests only within the limits of `start-limits.ts`. Throws 403 "Only participants
 * who have joined can record", 403 unless `who_may_record` of the room allows it, 404, 409, and 429 with Retry-After.
 */
export function startRecordingByParticipant(
  services: Needs & Pick<Services, 'settings' | 'livekitEgress'>,
  participant: RoomCaller,
  { title, egress }: NewRecordingInput,
  origin: string,
): Promise<StartedRecording> {
  const { db, clock, settings } = services;
  return transact(db, async (tx) => {
    const { storedBytes, ...room } = await lockRoomOfParticipant(tx, participant);
    const { isGuest } = await requireMayRecord(sqlIn(tx), clock.now(), participant);
    // Checks the allowance before the recording starts, so that a guest does not make a recording that cannot be
    // stored.
    requireWithinQuota(settings.quotas, 'bytes', storedBytes + 1);
    const roomName = egress === 1 ? await requireEgress(services, sqlIn(tx), room, { isGuest }) : null;
    const now = clock.now();
    if (isGuest) await requireWithinStartLimits(sqlIn(tx), now, room);
    const allowance = isGuest
      ? await requireByteAllowance(sqlIn(tx), now, room, { maxBytes: settings.participantRecordingBytes })
      : null;
    const maxBytes = Math.min(settings.maxRecordingBytes, allowance?.bytes ?? Number.POSITIVE_INFINITY);
    const started = await startRecording(tx, now, room, { title, startedBy: participant.id, maxBytes }, origin);
    if (roomName !== null)
      await addEgress(sqlIn(tx), now, { workspaceId: room.workspaceId, roomName }, started.recording);
    return started;
  });
}

/** Keeps a participant from leaving before the commit, and so from starting or stopping a recording afterwards. */
const lockStatus = statement('lock-status-of-participant', {
  params: { workspaceId: int, id: int },
  returns: { status: text },
  sql: 'select status from participants where workspace_id = $workspaceId and id = $id for share',
});

/** Locks the workspace of the participant's room. Throws 403 if the participant has not joined or has left. */
async function lockRoomOfParticipant(
  tx: Tx,
  { workspaceId, roomId, id }: RoomCaller,
): Promise<RoomKey & { storedBytes: number }> {
  const workspace = await lockWorkspace(tx, workspaceId, 'Participant');
  const [participant] = await sqlIn(tx).run(lockStatus, { workspaceId, id });
  if (participant === undefined) throw notFound('Participant');
  if (participant.status !== 'joined') throw forbidden('Only participants who have joined can record');
  return { workspaceId, roomId, storedBytes: workspace.stored_bytes };
}

/**
 * Stops a recording in a room that the caller manages, by setting `ended_at`. The file can be uploaded afterwards. Does
 * not change a recording that is already stopped or finished. Throws 404 "Room not found" and "Recording not found".
 */
export function stopRecordingByUser(
  { db, clock }: Needs,
  caller: Caller,
  { name, recordingId }: RoomRecordingInput,
  origin: string,
): Promise<Recording> {
  return transact(db, async (tx) =>
    stopRecording(tx, clock.now(), await lockRoomOfUser(tx, caller, { name }), { recordingId }, origin),
  );
}

async function stopRecording(
  tx: Tx,
  at: Date,
  { workspaceId, roomId }: RoomKey,
  { recordingId }: RecordingInput,
  origin: string,
): Promise<Recording> {
  await tx.recording.updateMany({
    where: { workspaceId, roomId, id: recordingId, endedAt: null, status: { in: unfinishedStatuses } },
    data: { endedAt: at, updatedAt: at },
  });
  const recording = await readRecording(sqlIn(tx), { workspaceId, recordingId }, origin);
  if (recording.room_id !== roomId) throw notFound('Recording');
  return recording;
}

/**
 * Stops a recording that is running in the participant's room, if the participant started it or is a host of the room.
 * Throws 403 "Only participants who have joined can record", 403 if the recording is another's, and 404 "Recording not
 * found". Only the person who started a recording, and hosts, can find it after it has stopped, because participants
 * cannot see earlier recordings of the room.
 */
export function stopRecordingByParticipant(
  { db, clock }: Needs,
  participant: RoomCaller,
  { recordingId }: RecordingInput,
  origin: string,
): Promise<Recording> {
  return transact(db, async (tx) => {
    const room = await lockRoomOfParticipant(tx, participant);
    await requireMayStop(sqlIn(tx), clock.now(), participant, { recordingId });
    return stopRecording(tx, clock.now(), room, { recordingId }, origin);
  });
}

/** Stops every recording that is running in the room. Returns the number of stopped recordings. */
export async function stopRecordingsOfRoom(tx: Tx, at: Date, { workspaceId, roomId }: RoomKey): Promise<number> {
  const { count } = await tx.recording.updateMany({
    where: { workspaceId, roomId, endedAt: null, status: { in: unfinishedStatuses } },
    data: { endedAt: at, updatedAt: at },
  });
  return count;
}
