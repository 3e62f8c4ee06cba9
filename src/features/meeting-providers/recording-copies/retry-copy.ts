import type { Caller } from '../../../auth/identify.ts';
import { lockWorkspace } from '../../../auth/workspace-lock.ts';
import { conflictForNow } from '../../../core/errors.ts';
import { type Tx, transact } from '../../../db/client.ts';
import { sqlIn } from '../../../db/sql.ts';
import type { Services } from '../../../services.ts';
import { findRecording, readRecording } from '../../recordings/read-recordings.ts';
import { reopenRecording } from '../../recordings/recording-lifecycle.ts';
import type { Recording, RecordingInput } from '../../recordings/schemas.ts';
import { type CopyKey, notifyCopiers, toDeadline } from './copy-queue.ts';

/**
 * Tries now to copy the file of a recording of a room that the caller manages, and again until its link expires, but at
 * most for a day. A failed recording becomes `uploaded`. Does not change a recording that is available. `origin` is the
 * origin of the recording's URL.
 *
 * Throws 404 "Recording not found", and 409 if no provider has reported a link to the file, or if the link has expired.
 */
export function retryCopy(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  input: RecordingInput,
  origin: string,
): Promise<Recording> {
  return transact(db, async (tx) => {
    const { workspaceId, id: recordingId } = await findRecording(sqlIn(tx), caller, input);
    await lockWorkspace(tx, workspaceId, 'Recording');
    // Reads it again: while waiting for the lock, the role or the status may have changed.
    const { status } = await findRecording(sqlIn(tx), caller, input);
    const copy = { workspaceId, recordingId };
    if (status !== 'available') await restartCopy(tx, clock.now(), copy);
    return readRecording(sqlIn(tx), copy, origin);
  });
}

async function restartCopy(tx: Tx, now: Date, copy: CopyKey): Promise<void> {
  const where = { workspaceId_recordingId: copy };
  const link = await tx.recordingCopy.findUnique({ where, select: { expiresAt: true } });
  if (link === null) throw conflictForNow('No meeting provider has reported a link to the file');
  if (link.expiresAt !== null && link.expiresAt <= now) throw conflictForNow('The link to the file has expired');
  const data = { nextAttemptAt: now, deadline: toDeadline(now, link.expiresAt) };
  await tx.recordingCopy.update({ where, data, select: { recordingId: true } });
  await reopenRecording(tx, now, copy);
  await notifyCopiers(sqlIn(tx));
}
