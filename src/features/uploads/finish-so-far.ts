/**
 * Finishes a recording with the bytes that have arrived, although its upload is not complete, and continues the upload
 * if more follow.
 */
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { createObjectKey } from '../../storage/create-object-key.ts';
import { ObjectMissingError, type PartialObject } from '../../storage/object-store.ts';
import { IDLE_MS } from './create-upload.ts';
import { addToRecording, commitObject, discardBytes, UploadTakenOver } from './finish-upload.ts';
import { record } from './upload-lease.ts';
import { beginFinishing, type LeasedUpload, recordFinished } from './upload-rows.ts';

/**
 * Makes the bytes so far the file of the recording, which becomes `uploaded`, or gets a longer file. The upload can be
 * continued for 24 hours from the first time. The capture counts as ended when the recorder fell silent. If the process
 * is killed meanwhile, this is repeated before more bytes are appended. Returns the new state of the upload.
 *
 * Throws UploadTakenOver, and the errors of `finishUpload`.
 */
export async function finishSoFar(services: Services, upload: LeasedUpload): Promise<LeasedUpload> {
  const { id, lease, recordingId, received, fileKey, activeAt: endedAt } = upload;
  if (recordingId === null) throw new Error('Only the upload of a recording is finished before it is complete');
  const { sql } = services.db;
  const [begun] = await sql.run(beginFinishing, { id, lease });
  if (!begun) throw new UploadTakenOver();
  const now = services.clock.now();
  let { expiresAt } = upload;
  const atEnd = async (tx: Tx): Promise<void> => {
    const params = { id, lease, now, expiresAt: new Date(now.getTime() + IDLE_MS) };
    const [recorded] = await sqlIn(tx).run(recordFinished, params);
    if (!recorded) throw new UploadTakenOver();
    expiresAt = recorded.expiresAt;
  };
  await commitObject(services, upload, (file) =>
    addToRecording(services, upload, recordingId, file, { atEnd, endedAt }),
  );
  return {
    ...upload,
    isFinishing: false,
    finishedKey: fileKey,
    finishedBytes: received,
    finishedAt: upload.finishedAt ?? now,
    expiresAt,
  };
}

/**
 * Copies the bytes so far to a new object, which is not complete, so that more can be appended. The recording keeps its
 * file until that one is. A copy that nobody refers to, because the process was killed, is removed by the sweep.
 *
 * Throws UploadTakenOver, ObjectMissingError if the bytes are gone, and StorageUnavailableError.
 */
export async function reopenUpload(services: Services, upload: LeasedUpload): Promise<LeasedUpload> {
  const { store } = services;
  const { workspaceId, mediaType, received } = upload;
  const fileKey = createObjectKey(workspaceId, 'recordings');
  let stored: PartialObject | null = null;
  const onStored = async (state: PartialObject): Promise<void> => {
    stored = state;
  };
  try {
    // Through this process: not every S3 server can copy into parts.
    const bytes = await store.read(upload.fileKey, { start: 0, end: received });
    await store.partial.append(fileKey, null, bytes, { contentType: mediaType, onStored });
    const next = { ...upload, fileKey, stored: requireWhole(stored, received) };
    return { ...next, expiresAt: await record(services, next) };
  } catch (error) {
    if (stored !== null) await discardBytes(services, fileKey, stored);
    throw error;
  }
}

function requireWhole(stored: PartialObject | null, size: number): PartialObject {
  if (stored?.size === size) return stored;
  throw new ObjectMissingError(new Error(`The object has ${stored?.size ?? 0} bytes instead of ${size}`));
}
