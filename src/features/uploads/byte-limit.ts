/** How many bytes the upload of a recording may have that is sent while it is made. */
import { AppError } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { formatBytes } from '../../media/format-bytes.ts';
import { quotaReached } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { readByteAllowance } from '../recordings/start-limits.ts';
import { findUploader } from '../recordings/upload.ts';
import { countRoomFor } from './create-upload.ts';
import type { Upload } from './upload-rows.ts';

/** A number of bytes, and the error for more. `isFinal`: the recording is complete when it has so many. */
export type ByteLimit = { bytes: number; error: AppError; isFinal: boolean };

/** 413 for what follows the last byte that a recording may have. */
export function maxRecordingReached(maxBytes: number): AppError {
  const size = formatBytes(maxBytes);
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `The recording has reached its maximum size of ${size} (RECORDING_MAX_BYTES)`,
  );
}

/**
 * Returns the smallest of three limits: the maximum size of a recording, the quota of the workspace, and, if a
 * participant started the recording, what the participants of the room may still store. What other unfinished uploads
 * have stored counts too. Uploads that append at the same moment can exceed the last two by what one request brings.
 *
 * Throws 404 if the recording was deleted.
 */
export async function findByteLimit(services: Services, upload: Upload): Promise<ByteLimit> {
  const { settings, db, clock } = services;
  const { recordingId, workspaceId } = upload;
  if (recordingId === null) throw new Error('Only the upload of a recording has a limit');
  const max = settings.maxRecordingBytes;
  const limits: ByteLimit[] = [{ bytes: max, error: maxRecordingReached(max), isFinal: true }];
  if (settings.quotas.bytes !== 0) {
    const bytes = await transact(db, (tx) => countRoomFor(services, tx, upload));
    limits.push({ bytes, error: quotaReached(settings.quotas, 'bytes'), isFinal: false });
  }
  const recorder = { kind: 'recorder', id: recordingId, workspaceId } as const;
  const { key, isGuest } = await findUploader(db, recorder, recordingId);
  // The limit on what guests store does not apply to hosts.
  if (isGuest && upload.createdBy === null && settings.participantRecordingBytes !== 0) {
    const allowed = { maxBytes: settings.participantRecordingBytes, recordingId };
    const { bytes, exceeded } = await readByteAllowance(db.sql, clock.now(), key, allowed);
    limits.push({ bytes, error: exceeded, isFinal: false });
  }
  return limits.reduce((smallest, limit) => (limit.bytes < smallest.bytes ? limit : smallest));
}
