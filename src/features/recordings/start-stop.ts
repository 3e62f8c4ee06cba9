/** Starting and stopping a recording, from the dashboard or from within the room. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../auth/identify.ts';
import type { RoomCaller } from '../../auth/participants.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { unfinishedStatuses } from '../../core/recording-status.ts';
import { type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { lockOwnRoom } from '../rooms/read-rooms.ts';
import type { RoomInput } from '../rooms/schemas.ts';
import { readRecording } from './read-recordings.ts';
import { addRecording } from './recording-lifecycle.ts';
import type {
  NewRecordingInput,
  Recording,
  RecordingInput,
  RoomRecordingInput,
  StartedRecording,
  StartRecordingInput,
} from './schemas.ts';
import { requireWithinStartLimits } from './start-limits.ts';

type Needs = Pick<Services, 'db' | 'clock'>;

type Place = { workspaceId: number; roomId: number };

type Wanted = { title?: string | null | undefined; archive_id?: string | undefined; startedBy?: number };

/**
 * Starts a recording in one of the caller's rooms, whatever their role in its workspace, and emits `recording.started`.
 * The answer is the only place that ever shows the token with which its file is uploaded. `origin` is where this service
 * is reached.
 * Throws 404 "Room not found", and 409 where one is running, or of that archive_id, in the room.
 */
export function startRecordingByUser(
  { db, clock }: Needs,
  caller: Caller,
  { name, ...wanted }: StartRecordingInput,
  origin: string,
): Promise<StartedRecording> {
  return transact(db, async (tx) =>
    startIn(tx, clock.now(), await lockRoomOfUser(tx, caller, { name }), wanted, origin),
  );
}

async function startIn(
  tx: Tx,
  at: Date,
  place: Place,
  { title, archive_id: archiveId = createArchiveId(), ...by }: Wanted,
  origin: string,
): Promise<StartedRecording> {
  const { workspaceId } = place;
  const token = createToken('lnr_');
  const uploadTokenHash = hashToken(token);
  // A blank title is none.
  const recordingId = await addRecording(tx, at, { ...place, ...by, archiveId, title: title || null, uploadTokenHash });
  if (recordingId !== null)
    return { recording: await readRecording(tx, { workspaceId, recordingId }, origin), upload_token: token };
  const isKnown = (await tx.recording.count({ where: { ...place, archiveId } })) > 0;
  throw conflict(
    isKnown ? 'A recording with this archive_id is there already' : 'A recording is already running in this room',
  );
}

function createArchiveId(): string {
  return `rec_${randomUUID().replaceAll('-', '')}`;
}

/** The caller's room, behind the lock of its workspace. */
async function lockRoomOfUser(tx: Tx, caller: Caller, input: RoomInput): Promise<Place> {
  const { workspace_id, id } = await lockOwnRoom(tx, caller, input);
  return { workspaceId: workspace_id, roomId: id };
}

/**
 * The same by a participant, within the bounds of `requireWithinStartLimits`. Throws 403 "Only participants who have joined
 * can record", 404, 409, and 429 with Retry-After.
 */
export function startRecordingByParticipant(
  { db, clock }: Needs,
  participant: RoomCaller,
  { title }: NewRecordingInput,
  origin: string,
): Promise<StartedRecording> {
  return transact(db, async (tx) => {
    const place = await lockRoomOfParticipant(tx, participant);
    const now = clock.now();
    await requireWithinStartLimits(tx, now, place);
    return startIn(tx, now, place, { title, startedBy: participant.id }, origin);
  });
}

/** The same for a participant. Throws 403 for who has not joined, or has left. */
async function lockRoomOfParticipant(tx: Tx, { workspaceId, roomId, id }: RoomCaller): Promise<Place> {
  await lockWorkspace(tx, workspaceId, 'Participant');
  const participant = await tx.participant.findUnique({
    where: { workspaceId_id: { workspaceId, id } },
    select: { status: true },
  });
  if (participant === null) throw notFound('Participant');
  if (participant.status !== 'joined') throw forbidden('Only participants who have joined can record');
  return { workspaceId, roomId };
}

/**
 * Stops a recording in one of the caller's rooms, whatever their role in its workspace: its capture has ended, and its
 * file is to come. Of one that was stopped or is over nothing changes. Throws 404 "Room not found" and "Recording not
 * found".
 */
export function stopRecordingByUser(
  { db, clock }: Needs,
  caller: Caller,
  { name, recordingId }: RoomRecordingInput,
  origin: string,
): Promise<Recording> {
  return transact(db, async (tx) =>
    stopIn(tx, clock.now(), await lockRoomOfUser(tx, caller, { name }), { recordingId }, origin),
  );
}

/** With `startedBy`, one that is not running is found only where they started it. */
async function stopIn(
  tx: Tx,
  at: Date,
  { workspaceId, roomId }: Place,
  { recordingId }: RecordingInput,
  origin: string,
  startedBy?: number,
): Promise<Recording> {
  const place = { workspaceId, roomId, id: recordingId };
  const { count } = await tx.recording.updateMany({
    where: { ...place, endedAt: null, status: { in: unfinishedStatuses } },
    data: { endedAt: at, updatedAt: at },
  });
  if (count === 0 && startedBy !== undefined && (await tx.recording.count({ where: { ...place, startedBy } })) === 0)
    throw notFound('Recording');
  const recording = await readRecording(tx, { workspaceId, recordingId }, origin);
  if (recording.room_id !== roomId) throw notFound('Recording');
  return recording;
}

/**
 * The same by a participant: any recording that runs in the room, whoever started it. Throws 403 "Only participants who
 * have joined can record", and 404, also for what is over, unless they started it: what was recorded before they came is
 * none of their business.
 */
export function stopRecordingByParticipant(
  { db, clock }: Needs,
  participant: RoomCaller,
  { recordingId }: RecordingInput,
  origin: string,
): Promise<Recording> {
  return transact(db, async (tx) =>
    stopIn(tx, clock.now(), await lockRoomOfParticipant(tx, participant), { recordingId }, origin, participant.id),
  );
}
