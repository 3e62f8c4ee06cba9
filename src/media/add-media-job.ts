/** Queues files for the media worker (`features/media-jobs`). */
import type { Tx } from '../db/client.ts';
import { notify } from '../db/notify.ts';
import { sqlIn } from '../db/sql.ts';

/** The NOTIFY channel that wakes the media workers. */
export const MEDIA_CHANNEL = 'lynxroom_media';

/** The item or the recording whose file it is. */
export type MediaSubject = { workspaceId: number } & (
  | { itemId: number; recordingId?: never }
  | { recordingId: number; itemId?: never }
);

/**
 * Queues a file that has replaced one which may be queued, or which a worker may be looking at. That worker loses its
 * lease, and what it has written is discarded.
 */
export async function replaceMediaJob(tx: Tx, now: Date, subject: MediaSubject): Promise<void> {
  await tx.mediaJob.deleteMany({ where: subject });
  await addMediaJob(tx, now, subject);
}

/** Queues a file, and wakes a worker when the transaction commits. */
export async function addMediaJob(tx: Tx, now: Date, subject: MediaSubject): Promise<void> {
  await tx.mediaJob.createMany({ data: { ...subject, nextAttemptAt: now }, skipDuplicates: true });
  await notify(sqlIn(tx), MEDIA_CHANNEL);
}
