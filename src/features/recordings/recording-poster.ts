/** Sets and reads the poster of a recording. */
import type { Caller } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import { storeAnswerOfCall } from '../../db/idempotency-keys.ts';
import { sqlIn } from '../../db/sql.ts';
import { type Poster, readPoster, storePoster } from '../../media/posters.ts';
import type { Services } from '../../services.ts';
import { findRecording, readRecording } from './read-recordings.ts';
import type { Recording, RecordingInput } from './schemas.ts';
import { isRecorder, type Uploader } from './upload.ts';

/**
 * Replaces the poster of a recording. Throws 403 for a recorder a day after the end of the recording: a guest must not
 * change it for ever. Throws 404 if the recording has been deleted, 400 unless `bytes` are a small JPEG or WebP, and
 * 500 "Upload failed: storage service unavailable".
 */
export async function setRecordingPoster(
  services: Services,
  { recordingId, key: { workspaceId }, uploadedBy }: Uploader,
  bytes: Buffer,
  origin: string,
): Promise<Recording> {
  return storePoster(services, workspaceId, bytes, (posterKey) =>
    transact(services.db, async (tx) => {
      await lockWorkspace(tx, workspaceId, 'Recording');
      const where = { workspaceId, id: recordingId };
      const oldestEnd = new Date(services.clock.now().getTime() - DAY_MS);
      if (isRecorder(uploadedBy) && (await tx.recording.count({ where: { ...where, endedAt: { lt: oldestEnd } } })) > 0)
        throw forbidden('The upload_token sets no poster more than 24 hours after the end of the recording');
      const { count } = await tx.recording.updateMany({ where, data: { posterKey } });
      if (count === 0) throw notFound('Recording');
      const recording = await readRecording(sqlIn(tx), { workspaceId, recordingId }, origin);
      await storeAnswerOfCall(sqlIn(tx), async () => ({ recording }));
      return recording;
    }),
  );
}

/** Reads the poster of a recording of a room that the caller manages. Throws 404, also without a poster. */
export async function readRecordingPoster(services: Services, caller: Caller, input: RecordingInput): Promise<Poster> {
  const { posterKey } = await findRecording(services.db.sql, caller, input);
  return readPoster(services, posterKey);
}
