/** Turns a complete upload into an item of the library, or into the file of a recording. */
import { createHash, type Hash } from 'node:crypto';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { AppError, type ErrorCode, notFound, storageUnavailable } from '../../core/errors.ts';
import { parseInput } from '../../core/validation.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { HEAD_BYTES, libraryTypes } from '../../media/file-type.ts';
import { ANSWER_MS, type Duration, readDuration } from '../../media/read-duration.ts';
import { requireContent, type StoredFile } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObject } from '../../storage/discarded-objects.ts';
import { ObjectMissingError, StorageUnavailableError } from '../../storage/object-store.ts';
import { addItem } from '../library/add-item.ts';
import { toItemName } from '../library/item-name.ts';
import { UploadFields } from '../library/schemas.ts';
import { commitRecordingFile, extendRecordingFile } from '../recordings/store-recording-file.ts';
import { findUploader, requireUploadAtEnd } from '../recordings/upload.ts';
import { parseMetadata } from './metadata.ts';
import { deleteLeasedUpload, isFinishedSoFar, type LeasedUpload, recordResult } from './upload-rows.ts';
import { isLive, rulesOf } from './upload-rules.ts';

/** Another request has taken over the upload. */
export class UploadTakenOver extends Error {
  constructor() {
    super('Another request has taken over the upload');
  }
}

/** The media worker looks at the file of a recording before it completes the recording. */
const notRead: Duration = { duration: null, isPending: true, isSeekable: false };

/** The codes of errors after which the file will never be accepted. */
const finalCodes: readonly ErrorCode[] = ['BAD_REQUEST', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'];

/**
 * Completes the object and commits it: adds an item to the library, which emits `library_item.uploaded`, or makes the
 * recording `uploaded`. The media worker makes it available. Returns the path of the result. This happens once, however
 * often it is tried. After a failure of the store or the database it can be tried again. If the file cannot be
 * accepted, the upload is removed.
 *
 * Throws 400 for a file of another type, the errors of `addItem` or `commitRecordingFile`, and 500 "Upload failed:
 * storage service unavailable".
 */
export async function finishUpload(services: Services, upload: LeasedUpload): Promise<string> {
  const { recordingId, workspaceId, received } = upload;
  if (recordingId === null) {
    const result = await commitObject(services, upload, async (file) => {
      const duration = await readDuration(services, { workspaceId, ...file }, ANSWER_MS);
      return addToLibrary(services, upload, { ...file, ...duration });
    });
    services.uploads.takeHash(upload.id, received);
    return result;
  }
  const result = `/api/dashboard/recordings/${recordingId}`;
  const atEnd = (tx: Tx): Promise<void> => setResult(tx, upload, result);
  // If it was finished before with all these bytes, they are its file already.
  if (isFinishedSoFar(upload))
    await transact(services.db, async (tx) => {
      await lockWorkspace(tx, workspaceId, 'Recording');
      await atEnd(tx);
    });
  else await commitObject(services, upload, (file) => addToRecording(services, upload, recordingId, file, { atEnd }));
  services.uploads.takeHash(upload.id, received);
  return result;
}

type CompleteObject = Pick<StoredFile, 'fileKey' | 'type' | 'size' | 'sha256'>;

/** Completes the object, and calls `commit`. Throws as `finishUpload`. */
export async function commitObject<Result>(
  services: Services,
  upload: LeasedUpload,
  commit: (file: CompleteObject) => Promise<Result>,
): Promise<Result> {
  const { fileKey, received, mediaType, head, stored } = upload;
  const { uploads } = services;
  try {
    if (received < HEAD_BYTES) await requireContent(mediaType, Buffer.from(head), rulesOf(services, upload));
    if (stored === null) throw new Error('A complete upload has no bytes');
    await services.store.partial.complete(fileKey, stored);
    const hash = uploads.takeHash(upload.id, received) ?? (await hashObject(services, fileKey));
    // If what follows fails, for example because a quota is reached, it is tried again every minute.
    uploads.keepHash(upload.id, received, hash);
    const sha256 = new Uint8Array(hash.copy().digest());
    return await commit({ fileKey, type: mediaType, size: received, sha256 });
  } catch (error) {
    const failure = toUploadError(error);
    // After a quota or a limit is reached, the file may be accepted later.
    if (failure instanceof AppError && finalCodes.includes(failure.code) && !failure.isTransient)
      await removeUpload(services, upload);
    throw failure;
  }
}

/** Converts errors of the store. The bytes of an upload may be missing after a backup was restored. */
export function toUploadError(error: unknown): unknown {
  if (error instanceof ObjectMissingError) return notFound('Upload');
  if (error instanceof StorageUnavailableError)
    return storageUnavailable('Upload failed: storage service unavailable', error);
  return error;
}

/** Removes an upload and its bytes, unless another request has the lease by now. */
export async function removeUpload(services: Services, upload: LeasedUpload): Promise<void> {
  const { id, lease, fileKey, stored } = upload;
  const [deleted] = await services.db.sql.run(deleteLeasedUpload, { id, lease });
  if (deleted && stored !== null && !isFinishedSoFar(upload)) await removeDiscardedObject(services, fileKey, stored);
}

/** Discards stored bytes. If the store fails, the sweep removes them later. */
export async function discardBytes(
  { store, log }: Pick<Services, 'store' | 'log'>,
  fileKey: string,
  stored: NonNullable<LeasedUpload['stored']>,
): Promise<void> {
  await store.partial.discard(fileKey, stored).catch((error: unknown) => {
    log.warn({ err: error, key: fileKey }, 'Failed to discard the bytes of an upload; the sweep will remove them');
  });
}

async function hashObject({ store }: Services, fileKey: string): Promise<Hash> {
  const hash = createHash('sha256');
  for await (const chunk of await store.read(fileKey)) hash.update(chunk);
  return hash;
}

async function addToLibrary(services: Services, upload: LeasedUpload, file: StoredFile): Promise<string> {
  const { workspaceId, createdBy, creatorName } = upload;
  if (createdBy === null || creatorName === null) throw new Error('An upload to the library has no creator');
  const { filename = '', name, description } = parseMetadata(upload.metadata);
  const fields = parseInput(UploadFields, { name, description });
  const type = libraryTypes.find((supported) => supported === file.type);
  if (type === undefined) throw new Error('An upload to the library has a type that it does not store');
  const actor = { userId: createdBy, name: creatorName, workspaceId };
  const toResult = (id: number): string => `/api/workspaces/${workspaceId}/library/${id}`;
  const { labelId } = upload;
  const item = { ...fields, ...file, type, labelId, name: fields.name || toItemName(filename) };
  const { id } = await addItem(services, actor, item, (tx, added) => setResult(tx, upload, toResult(added.id)));
  return toResult(id);
}

/**
 * Gives the recording its file, or a longer one if it was finished before. `endedAt` is when the recorder fell silent;
 * null if it has said that this is all.
 */
export async function addToRecording(
  services: Services,
  upload: LeasedUpload,
  recordingId: number,
  object: CompleteObject,
  { atEnd, endedAt = null }: { atEnd(tx: Tx): Promise<unknown>; endedAt?: Date | null },
): Promise<void> {
  const file = { ...object, ...notRead };
  const recorder = { id: recordingId, workspaceId: upload.workspaceId, kind: 'recorder' } as const;
  const found = await findUploader(services.db, recorder, recordingId);
  // The limit on what participants store does not apply to hosts.
  const uploader = { ...found, isGuest: found.isGuest && upload.createdBy === null };
  if (upload.finishedAt !== null) return extendRecordingFile(services, uploader.key, file, { atEnd });
  await commitRecordingFile(services, uploader.key, file, {
    // What is sent while it is made has passed the limits already, before each part was stored.
    ...(isLive(upload)
      ? { isAdmitted: true }
      : { beforeCommit: (tx: Tx, { size }: StoredFile) => requireUploadAtEnd(services, tx, uploader, size) }),
    atEnd,
    endedAt,
    isFinishedLater: true,
  });
}

/** Throws if another request has finished the upload, or has taken it over. */
async function setResult(tx: Tx, { id, lease }: LeasedUpload, result: string): Promise<void> {
  const [recorded] = await sqlIn(tx).run(recordResult, { id, lease, result });
  if (!recorded) throw new UploadTakenOver();
}
