/**
 * The lifecycle of a recording. Its recorder or a meeting provider reports changes. Reports may arrive late, more than
 * once and out of order, so a recording only moves forward. Call these functions with the workspace locked. `at` is
 * when the change happened. `now` is when it was reported, and becomes `updated_at`.
 */
import { badField, notFound } from '../../core/errors.ts';
import { canTransition, toRecordingStatus } from '../../core/recording-status.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, statement, text, time } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import type { MediaType } from '../../media/file-type.ts';

export type RoomKey = { workspaceId: number; roomId: number };

/** Identifies a recording by the id from its recorder. The id is unique within the room. */
export type RecordingKey = RoomKey & { archiveId: string };

/** A file in the object store, with the SHA-256 of its bytes. */
type FileReference = { fileKey: string; sha256: Uint8Array<ArrayBuffer>; mediaType: MediaType };

/** A new status and the values that are known at that point. `duration` is in seconds, `size` in bytes. */
export type RecordingUpdate = {
  duration?: number;
  size?: number;
  title?: string;
} & (
  | ({ status: 'uploaded' | 'available'; failureReason?: never } & (
      | FileReference
      | { fileKey?: never; sha256?: never; mediaType?: never }
    ))
  | { status: 'failed'; failureReason?: string; fileKey?: never; sha256?: never; mediaType?: never }
);

const columns = {
  id: true,
  archiveId: true,
  title: true,
  duration: true,
  size: true,
  status: true,
  createdAt: true,
  room: { select: { id: true, name: true } },
} as const;

type Row = {
  id: number;
  archiveId: string;
  title: string | null;
  duration: bigint;
  size: bigint;
  status: string;
  createdAt: Date;
  room: { id: number; name: string };
};

export type NewRecording = RecordingKey & {
  title?: string | null;
  /** The hash of the upload token, if our own recorder uploads the file. */
  uploadTokenHash?: Uint8Array<ArrayBuffer>;
  /** The participant who started the recording; undefined if the user to whom the room belongs, or a provider, did. */
  startedBy?: number;
};

const lockRecording = statement('lock-recording', {
  params: { workspaceId: int, roomId: int, archiveId: text },
  returns: { id: int, status: text, endedAt: nullable(time), updatedAt: time },
  sql: `
    select id, status, ended_at as "endedAt", updated_at as "updatedAt" from recordings
    where workspace_id = $workspaceId and room_id = $roomId and archive_id = $archiveId for update`,
});

/**
 * Adds a recording with status `started`, emits `recording.started` and returns the id of the recording. Returns null
 * if the room already has a recording with the archive id. Also returns null if the recording has an upload token and
 * another recording with an upload token is running in the room.
 */
export async function addRecording(tx: Tx, at: Date, recording: NewRecording, now = at): Promise<number | null> {
  const { count } = await tx.recording.createMany({
    data: { ...recording, status: 'started', createdAt: at, updatedAt: now },
    skipDuplicates: true,
  });
  if (count === 0) return null;
  const { workspaceId } = recording;
  const row = await tx.recording.findUniqueOrThrow({ where: toWhere(recording), select: columns });
  await emit(sqlIn(tx), at, { type: 'recording.started', workspaceId, data: toEventData(workspaceId, row) });
  return row.id;
}

function toWhere({ workspaceId, roomId, archiveId }: RecordingKey) {
  return { workspaceId_roomId_archiveId: { workspaceId, roomId, archiveId } };
}

function toEventData(workspaceId: number, row: Row) {
  return {
    workspace_id: workspaceId,
    room_id: row.room.id,
    room_name: row.room.name,
    recording_id: row.id,
    archive_id: row.archiveId,
    title: row.title,
    duration: Number(row.duration),
    size: Number(row.size),
    status: toRecordingStatus(row.status),
    created_at: toUnixSeconds(row.createdAt),
  };
}

/**
 * Moves a recording forward to the status of the update. Emits `recording.completed` when the recording becomes
 * available, which requires a file in this update or an earlier one. When the recording becomes available, its link is
 * forgotten; when it fails, copying its file ends. Ignores a transition that is not allowed, such as a repeated or late
 * report. Returns whether the status changed. Throws 404 "Recording not found", and 400 for a negative or invalid
 * `duration` or `size`.
 */
export async function advanceRecording(
  tx: Tx,
  at: Date,
  { workspaceId, roomId, archiveId }: RecordingKey,
  update: RecordingUpdate,
  now = at,
): Promise<boolean> {
  const data = toData(update);
  const [current] = await sqlIn(tx).run(lockRecording, { workspaceId, roomId, archiveId });
  if (!current) throw notFound('Recording');
  const status = toRecordingStatus(current.status);
  // A file that a provider announced may be uploaded by somebody else.
  const isUploaded = status === 'uploaded' && update.status === 'uploaded' && update.fileKey !== undefined;
  if (!isUploaded && !canTransition(status, update.status)) return false;
  const row = await tx.recording.update({
    where: toWhere({ workspaceId, roomId, archiveId }),
    data: {
      ...data,
      updatedAt: current.updatedAt > now ? current.updatedAt : now,
      // A file exists only after the capture has ended.
      ...(update.status !== 'failed' && current.endedAt === null && { endedAt: at }),
    },
    select: columns,
  });
  const copy = { workspaceId, recordingId: current.id };
  if (update.status === 'failed')
    await tx.recordingCopy.updateMany({ where: copy, data: { nextAttemptAt: null, leasedUntil: null } });
  if (update.fileKey !== undefined || update.status === 'available') await tx.recordingCopy.deleteMany({ where: copy });
  if (update.status === 'available')
    await emit(sqlIn(tx), at, { type: 'recording.completed', workspaceId, data: toEventData(workspaceId, row) });
  return true;
}

/**
 * Makes a failed recording `uploaded`, because its file can be copied after all. Clears the reason why the file of a
 * failed or uploaded recording could not be copied. Does not change a recording with another status.
 */
export async function reopenRecording(
  tx: Tx,
  now: Date,
  { workspaceId, recordingId }: { workspaceId: number; recordingId: number },
): Promise<void> {
  await tx.recording.updateMany({
    where: { workspaceId, id: recordingId, status: { in: ['uploaded', 'failed'] } },
    data: { status: 'uploaded', failureReason: null, updatedAt: now },
  });
}

function toData({ status, duration, size, title, failureReason, fileKey, sha256, mediaType }: RecordingUpdate) {
  return {
    status,
    ...(duration !== undefined && { duration: toCount('duration', duration) }),
    ...(size !== undefined && { size: toCount('size', size) }),
    ...(title !== undefined && { title }),
    ...(failureReason !== undefined && { failureReason }),
    // Clears the failure reason of an earlier copy.
    ...(status === 'available' && { failureReason: null }),
    ...(fileKey !== undefined && { fileKey, sha256, mediaType }),
  };
}

/** Rounds a number from the recorder. Throws 400 if the result is negative or not a safe integer. */
function toCount(field: 'duration' | 'size', value: number): bigint {
  const count = Math.round(value);
  if (!Number.isSafeInteger(count) || count < 0) throw badField(field, `${field} must be a non-negative number`);
  return BigInt(count);
}
