/** Stores the file of a recording, sent by our recorder, the user to whom the room belongs, or a meeting provider. */

import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { type RecordingStatus, toRecordingStatus } from '../../core/recording-status.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { addMediaJob, replaceMediaJob } from '../../media/add-media-job.ts';
import {
  type FileRules,
  type IncomingFile,
  receiveFile,
  type StoredFile,
  type UndeclaredVideo,
} from '../../media/receive-file.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services, Settings } from '../../services.ts';
import { mailReadyRecording } from './mail-ready-recording.ts';
import { advanceRecording, type RecordingKey } from './recording-lifecycle.ts';
import type { ByteAllowance } from './start-limits.ts';

export type RecordingTransfer = {
  file: IncomingFile | UndeclaredVideo;
  /** Aborted when the rest of the file is not going to arrive. */
  signal: AbortSignal;
  /** Resolves when the whole body has arrived. The transaction does not commit before that. */
  bodyEnd?: Promise<unknown>;
  /** A limit below the maximum size of a recording, and the error for a larger file. */
  allowance?: ByteAllowance | null;
  /** Runs in the transaction, with the workspace locked. If it throws, the transaction is rolled back. */
  beforeCommit?: ((tx: Tx, stored: StoredFile) => Promise<unknown>) | undefined;
  /** Runs at the end of the transaction. */
  atEnd?: ((tx: Tx) => Promise<unknown>) | undefined;
};

/** Throws 409 unless the recording still needs a file. `fileKey` is that of its file, if any. */
export function requireUnfinished(status: RecordingStatus, fileKey: string | null): void {
  if (status === 'available' || fileKey !== null) throw hasFile();
  if (status === 'failed') throw conflict('The recording has failed');
}

function hasFile() {
  return conflict('The recording already has a file');
}

/**
 * Stores the file of a recording, makes the recording available and emits `recording.completed`. Only one of several
 * concurrent calls succeeds. A failure leaves no object behind.
 *
 * Throws 400 "Only MP4 and WebM files are supported", "File is larger than ...", "File is empty" or "File is required";
 * 404 "Recording not found" if it has been deleted; 409 "The recording already has a file" or "The recording has
 * failed", and 409 if the workspace has reached its quota of bytes; 500 "Upload failed: storage service unavailable";
 * and the errors of the allowance and of the file's stream.
 */
export function storeRecordingFile(
  services: Services,
  { workspaceId, roomId, archiveId }: RecordingKey,
  { file, signal, bodyEnd, allowance, beforeCommit, atEnd }: RecordingTransfer,
): Promise<void> {
  const rules = { ...recordingRules(services.settings), ...(allowance && { allowance }) };
  // Without this, `bodyEnd` could cause an unhandled rejection if storing the file fails first.
  bodyEnd?.catch(() => {});
  return receiveFile(services, { workspaceId, file, rules, signal }, async (stored) => {
    await bodyEnd;
    await commitRecordingFile(services, { workspaceId, roomId, archiveId }, stored, { beforeCommit, atEnd });
  });
}

export function recordingRules({ maxRecordingBytes }: Settings): FileRules {
  return {
    folder: 'recordings',
    types: ['video/mp4', 'video/webm'],
    requiresMp4Box: true,
    unsupported: 'Only MP4 and WebM files are supported',
    maxBytes: maxRecordingBytes,
  };
}

type CommitOptions = {
  isFinishedLater?: boolean;
  /** Whether the quota was checked while the bytes were stored. */
  isAdmitted?: boolean;
  /** When the capture ended; null means now, unless it has ended before. */
  endedAt?: Date | null;
};

/**
 * Gives a recording its stored file. It becomes available, unless `isFinishedLater` is set: then it becomes `uploaded`,
 * and the media worker makes it available. Throws the 404 and 409 of `storeRecordingFile`.
 */
export async function commitRecordingFile(
  services: Services,
  key: RecordingKey,
  stored: StoredFile,
  {
    beforeCommit,
    atEnd,
    isFinishedLater = false,
    isAdmitted = false,
    endedAt = null,
  }: Pick<RecordingTransfer, 'beforeCommit' | 'atEnd'> & CommitOptions,
): Promise<void> {
  await transact(services.db, async (tx) => {
    const workspace = await lockWorkspace(tx, key.workspaceId, 'Recording');
    await beforeCommit?.(tx, stored);
    const used = workspace.stored_bytes + stored.size;
    if (!isAdmitted) requireWithinQuota(services.settings.quotas, 'bytes', used);
    const now = services.clock.now();
    const { id, ...found } = await findByKey(tx, key);
    requireUnfinished(found.status, found.fileKey);
    const { sha256, size, duration, type: mediaType } = stored;
    const file = { fileKey: stored.fileKey, sha256, size, mediaType, ...(duration !== null && { duration }) };
    const { workspaceId } = key;
    const isLookedAt = !isFinishedLater && !stored.isPending && stored.isSeekable;
    if (!isLookedAt) await addMediaJob(tx, now, { workspaceId, recordingId: id });
    const status = isFinishedLater ? 'uploaded' : 'available';
    if (!(await advanceRecording(tx, endedAt ?? now, key, { status, ...file }, now))) throw hasFile();
    if (status === 'available') await mailReadyRecording(services, sqlIn(tx), { workspaceId, recordingId: id });
    await atEnd?.(tx);
  });
}

/**
 * Gives a recording that has a file a longer one, which is stored. The previous file is discarded. The status does not
 * change, so `recording.completed` is not emitted again: the media worker looks at the file, and sets its duration.
 * Throws 404 "Recording not found" if it has been deleted.
 */
export async function extendRecordingFile(
  services: Services,
  key: RecordingKey,
  { fileKey, sha256, size, type: mediaType }: StoredFile,
  { atEnd }: Required<Pick<RecordingTransfer, 'atEnd'>>,
): Promise<void> {
  const { workspaceId } = key;
  await transact(services.db, async (tx) => {
    await lockWorkspace(tx, workspaceId, 'Recording');
    const now = services.clock.now();
    const { id } = await findByKey(tx, key);
    const data = { fileKey, sha256, size, mediaType, updatedAt: now };
    await tx.recording.updateMany({ where: { workspaceId, id, fileKey: { not: null } }, data });
    await replaceMediaJob(tx, now, { workspaceId, recordingId: id });
    await atEnd?.(tx);
  });
}

async function findByKey(tx: Tx, key: RecordingKey) {
  const where = { workspaceId_roomId_archiveId: key };
  const found = await tx.recording.findUnique({ where, select: { id: true, status: true, fileKey: true } });
  if (found === null) throw notFound('Recording');
  return { ...found, status: toRecordingStatus(found.status) };
}
