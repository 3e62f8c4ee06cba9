import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { mailReadyRecording } from './mail-ready-recording.ts';
import { advanceRecording } from './recording-lifecycle.ts';

/** A seekable MP4 or WebM that replaces the file of a recording. */
export type RecordingFile = {
  fileKey: string;
  size: number;
  sha256: Uint8Array<ArrayBuffer>;
  mediaType: 'video/mp4' | 'video/webm';
};

/**
 * Completes a recording whose file a worker has looked at: it becomes available, which emits `recording.completed`
 * and queues the mail about it, unless it is available already. If `file` is not null, it replaces the file, which is
 * discarded. `duration` is in seconds; null if unknown. Call it with the workspace locked.
 *
 * Does nothing if the recording no longer has the file `fileKey`; then the new file is discarded with its job.
 */
export async function finishRecording(
  services: Pick<Services, 'sealer' | 'clock'>,
  tx: Tx,
  now: Date,
  { workspaceId, recordingId, fileKey }: { workspaceId: number; recordingId: number; fileKey: string },
  { duration, file }: { duration: number | null; file: RecordingFile | null },
): Promise<void> {
  const found = await tx.recording.findFirst({
    where: { workspaceId, id: recordingId, fileKey },
    select: { roomId: true, archiveId: true },
  });
  if (found === null) return;
  await tx.recording.updateMany({
    where: { workspaceId, id: recordingId },
    data: {
      updatedAt: now,
      ...(duration !== null && { duration }),
      ...file,
    },
  });
  const isReady = await advanceRecording(tx, now, { workspaceId, ...found }, { status: 'available' });
  if (isReady) await mailReadyRecording(services, sqlIn(tx), { workspaceId, recordingId });
}
