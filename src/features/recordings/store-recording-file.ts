/** The file of a recording on its way into the store, whoever sends it: our recorder, its room's user, or a provider. */

import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict } from '../../core/errors.ts';
import { type RecordingStatus, toRecordingStatus } from '../../core/recording-status.ts';
import { type Tx, transact } from '../../db/client.ts';
import { type FileRules, type IncomingFile, receiveFile, type StoredFile } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import { advanceRecording, type RecordingKey } from './recording-lifecycle.ts';

/** What comes of a file, and with it. */
export type RecordingTransfer = {
  file: IncomingFile;
  /** Aborted where the rest of it will not come. */
  signal: AbortSignal;
  /** Resolves when all is there that comes with the file; nothing is committed before. */
  whole?: Promise<unknown>;
  /** Called in the transaction, behind the lock of the workspace's row: where it throws, nothing has happened. */
  beforeCommit?(tx: Tx): Promise<unknown>;
};

/** Throws 409 for a recording that takes no file any more. */
export function requireUnfinished(status: RecordingStatus): void {
  if (status === 'available') throw conflict('The recording has its file already');
  if (status === 'failed') throw conflict('The recording has failed');
}

/**
 * Stores the file of a recording, which with it becomes available; emits `recording.completed`. Of several at once one
 * wins. What fails leaves no object.
 *
 * Throws 400 "Only MP4 files are supported", "File is larger than ...", "File is empty" or "File is required"; 404
 * "Recording not found" where it was deleted meanwhile; 409 "The recording has its file already" or "The recording has
 * failed"; 500 "Upload failed: storage service unavailable"; and whatever the file's stream fails with.
 */
export function storeRecordingFile(
  services: Services,
  { workspaceId, roomId, archiveId }: RecordingKey,
  { file, signal, whole, beforeCommit }: RecordingTransfer,
): Promise<void> {
  const rules: FileRules = {
    folder: 'recordings',
    kinds: ['video/mp4'],
    unsupported: 'Only MP4 files are supported',
    maxBytes: services.settings.maxRecordingBytes,
  };
  // Whoever stores the file may stop before this is waited for.
  whole?.catch(() => {});
  return receiveFile(services, { workspaceId, file, rules, signal }, async (stored) => {
    await whole;
    await transact(services.db, async (tx) => {
      await lockWorkspace(tx, workspaceId, 'Recording');
      await beforeCommit?.(tx);
      await complete(tx, services.clock.now(), { workspaceId, roomId, archiveId }, stored);
    });
  });
}

async function complete(tx: Tx, at: Date, key: RecordingKey, stored: StoredFile): Promise<void> {
  const { fileKey, sha256, size, duration } = stored;
  const file = { fileKey, sha256, size, ...(duration !== null && { duration }) };
  if (await advanceRecording(tx, at, key, { status: 'available', ...file })) return;
  const { status } = await tx.recording.findUniqueOrThrow({
    where: { workspaceId_roomId_archiveId: key },
    select: { status: true },
  });
  requireUnfinished(toRecordingStatus(status));
}
