/**
 * What is told of a recording, by its recorder or by a meeting provider. It may be told twice, out of order, or two
 * things at once: call each function behind the lock of the workspace's row; it takes the recording's, and moves it only
 * forward. `at` is when it happened; `now`, where that is later, when it is told, which is what something was last heard of it.
 */
import { badField, notFound } from '../../core/errors.ts';
import { canTransition, isFinal, toRecordingStatus } from '../../core/recording-status.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';

/** The name of a recording: its room, and what the recorder calls it there. */
export type RecordingKey = { workspaceId: number; roomId: number; archiveId: string };

/** A file in the object store, with the SHA-256 of its bytes. */
type FileReference = { fileKey: string; sha256: Uint8Array<ArrayBuffer> };

/** What is known by the time of a move: `duration` in seconds, `size` in bytes. */
export type RecordingUpdate = {
  duration?: number;
  size?: number;
  title?: string;
} & (
  | ({ status: 'uploaded' | 'available'; failureReason?: never } & (
      | FileReference
      | { fileKey?: never; sha256?: never }
    ))
  | { status: 'failed'; failureReason?: string; fileKey?: never; sha256?: never }
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
  /** Of the token that uploads the file, where a recorder of ours makes the recording. */
  uploadTokenHash?: Uint8Array<ArrayBuffer>;
  /** The participant who started it; none: the room's user, or a provider. */
  startedBy?: number;
};

type KnownRow = { id: number; status: string; endedAt: Date | null; updatedAt: Date };

/**
 * Adds a recording that has begun, and emits `recording.started`. Returns its id; null where its name is known already,
 * or another one of a recorder is running in the room.
 */
export async function addRecording(tx: Tx, at: Date, recording: NewRecording, now = at): Promise<number | null> {
  const { count } = await tx.recording.createMany({
    data: { ...recording, status: 'started', createdAt: at, updatedAt: now },
    skipDuplicates: true,
  });
  if (count === 0) return null;
  const { workspaceId } = recording;
  const row = await tx.recording.findUniqueOrThrow({ where: toWhere(recording), select: columns });
  await emit(tx, at, { type: 'recording.started', workspaceId, data: toEventData(workspaceId, row) });
  return row.id;
}

function toWhere({ workspaceId, roomId, archiveId }: RecordingKey) {
  return {
    workspaceId_roomId_archiveId: { workspaceId, roomId, archiveId },
  };
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
 * Moves a recording forward, with what is known by then. When it becomes available (for which it needs a file, now or
 * from before) it emits `recording.completed`, and nothing is uploaded or copied any more; nor where it fails. A move
 * that is not legal from where it is, as one told twice or too late, changes nothing. Returns whether it moved.
 * Throws 404 "Recording not found", and 400 for a number that is none.
 */
export async function advanceRecording(
  tx: Tx,
  at: Date,
  { workspaceId, roomId, archiveId }: RecordingKey,
  update: RecordingUpdate,
  now = at,
): Promise<boolean> {
  const data = toData(update);
  const [known] = await tx.$queryRaw<KnownRow[]>`
    select id, status, ended_at as "endedAt", updated_at as "updatedAt" from recordings
    where workspace_id = ${workspaceId} and room_id = ${roomId} and archive_id = ${archiveId} for update`;
  if (!known) throw notFound('Recording');
  if (!canTransition(toRecordingStatus(known.status), update.status)) return false;
  const row = await tx.recording.update({
    where: toWhere({ workspaceId, roomId, archiveId }),
    data: {
      ...data,
      updatedAt: known.updatedAt > now ? known.updatedAt : now,
      // There is no file before the capture has ended.
      ...(update.status !== 'failed' && known.endedAt === null && { endedAt: at }),
    },
    select: columns,
  });
  if (isFinal(update.status)) await tx.recordingCopy.deleteMany({ where: { workspaceId, recordingId: known.id } });
  if (update.status === 'available')
    await emit(tx, at, { type: 'recording.completed', workspaceId, data: toEventData(workspaceId, row) });
  return true;
}

function toData({ status, duration, size, title, failureReason, fileKey, sha256 }: RecordingUpdate) {
  return {
    status,
    ...(duration !== undefined && { duration: toCount('duration', duration) }),
    ...(size !== undefined && { size: toCount('size', size) }),
    ...(title !== undefined && { title }),
    ...(failureReason !== undefined && { failureReason }),
    ...(fileKey !== undefined && { fileKey, sha256 }),
  };
}

/** A number of the recorder's, which may be anything, as the database keeps it. */
function toCount(field: 'duration' | 'size', value: number): bigint {
  const count = Math.round(value);
  if (!Number.isSafeInteger(count) || count < 0) throw badField(field, `${field} must be a number of at least 0`);
  return BigInt(count);
}
