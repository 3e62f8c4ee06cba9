/**
 * What the recorder tells of a recording. It may tell the same twice, out of order, or two things at once: each
 * function takes the workspace's row, then the recording's, and moves it only forward.
 */
import { notFound } from '../../core/errors.ts';
import { mayMove, type RecordingStatus, toRecordingStatus } from '../../core/recording-status.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import { lockWorkspace } from '../members/lock-workspace.ts';

/** The name of a recording: its room, and what the recorder calls it there. */
export type RecordingKey = { workspaceId: number; roomId: number; archiveId: string };

/** What is known by the time of a move: `duration` in seconds, `size` in bytes, `fileKey` in the object store. */
export type Progress = {
  status: Exclude<RecordingStatus, 'started'>;
  fileKey?: string;
  duration?: number;
  size?: number;
  title?: string;
};

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

const toEventData = (workspaceId: number, row: Row) => ({
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
});

const toWhere = (key: RecordingKey) => ({ workspaceId_roomId_archiveId: key });

/**
 * Notes that a recording has begun, and emits `recording.started`; for one that is known already nothing happens.
 * Returns its id. Throws 404 "Room not found".
 */
export const startRecording = async (
  tx: Tx,
  at: Date,
  { title = null, ...key }: RecordingKey & { title?: string | null },
): Promise<number> => {
  const { workspaceId, roomId } = key;
  await lockWorkspace(tx, workspaceId, 'Room');
  const room = await tx.room.findUnique({
    where: { workspaceId_id: { workspaceId, id: roomId } },
    select: { id: true },
  });
  if (room === null) throw notFound('Room');
  const { count } = await tx.recording.createMany({
    data: { ...key, title, status: 'started', createdAt: at, updatedAt: at },
    skipDuplicates: true,
  });
  const row = await tx.recording.findUniqueOrThrow({ where: toWhere(key), select: columns });
  if (count === 1) await emit(tx, at, { type: 'recording.started', workspaceId, data: toEventData(workspaceId, row) });
  return row.id;
};

const toData = ({ status, fileKey, duration, size, title }: Progress) => ({
  status,
  ...(fileKey !== undefined && { fileKey }),
  ...(duration !== undefined && { duration: BigInt(Math.round(duration)) }),
  ...(size !== undefined && { size: BigInt(size) }),
  ...(title !== undefined && { title }),
});

/**
 * Moves a recording forward, with what is known by then, and emits `recording.completed` when it becomes available
 * (for which it needs a `fileKey`, now or from before). A move that is not legal from where it is, as one told twice or
 * too late, changes nothing. Returns whether it moved. Throws 404 "Recording not found".
 */
export const advanceRecording = async (
  tx: Tx,
  at: Date,
  { workspaceId, roomId, archiveId }: RecordingKey,
  progress: Progress,
): Promise<boolean> => {
  await lockWorkspace(tx, workspaceId, 'Recording');
  const [known] = await tx.$queryRaw<{ status: string }[]>`
    select status from recordings
    where workspace_id = ${workspaceId} and room_id = ${roomId} and archive_id = ${archiveId} for update`;
  if (!known) throw notFound('Recording');
  if (!mayMove(toRecordingStatus(known.status), progress.status)) return false;
  const row = await tx.recording.update({
    where: toWhere({ workspaceId, roomId, archiveId }),
    data: { ...toData(progress), updatedAt: at },
    select: columns,
  });
  if (progress.status === 'available')
    await emit(tx, at, { type: 'recording.completed', workspaceId, data: toEventData(workspaceId, row) });
  return true;
};
