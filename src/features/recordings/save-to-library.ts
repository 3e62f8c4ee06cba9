/** Copies the file of a recording into the library of its workspace. */
import type { Caller } from '../../auth/identify.ts';
import { badField, conflict, conflictForNow, storageUnavailable } from '../../core/errors.ts';
import { formatBytes } from '../../media/format-bytes.ts';
import { copyPoster } from '../../media/posters.ts';
import { commitFile } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import type { CopyObject } from '../../storage/copy-slots.ts';
import { createObjectKey } from '../../storage/create-object-key.ts';
import { MAX_COPIED_BYTES, StorageUnavailableError } from '../../storage/object-store.ts';
import { addItem, requireRoomForItem } from '../library/add-item.ts';
import { toItemName } from '../library/item-name.ts';
import type { LibraryItem } from '../library/schemas.ts';
import { findRecording } from './read-recordings.ts';
import type { RecordingInput, SaveToLibraryInput } from './schemas.ts';

/** The maximum duration of a library item, in seconds. */
const MAX_SECONDS = 2 ** 31 - 1;

/**
 * Copies a recording of a room that the caller manages, with its poster, into the library of its workspace, and emits
 * `library_item.uploaded`. The bytes do not leave the store. Without `name`, the item is named after the recording's
 * title or, if there is none, its room. A failure leaves no object behind.
 *
 * Throws 404 "Recording not found", also if the recording is deleted during the copy; 409 "The recording is not
 * available yet" or "The recording has failed"; 400 "File is larger than 100 MB" (by default), and for a WebM;
 * 500 "Upload failed: storage service unavailable"; 429 or 503 if too many files are being copied; and the errors of
 * `addItem`.
 */
export async function saveToLibrary(
  services: Services,
  caller: Caller,
  input: SaveToLibraryInput,
  origin: string,
): Promise<LibraryItem> {
  const { workspaceId } = await findFile(services, caller, input);
  return services.copies.run(services.store, workspaceId, (copy) => saveWith(services, copy, caller, input, origin));
}

async function saveWith(
  services: Services,
  copy: CopyObject,
  caller: Caller,
  { recordingId, name, description }: SaveToLibraryInput,
  origin: string,
): Promise<LibraryItem> {
  // Found again, because the call may have waited.
  const found = await findFile(services, caller, { recordingId });
  const { workspaceId, name: ownName, fileKey: from, posterKey: posterFrom, ...metadata } = found;
  await requireRoomForItem(services, workspaceId, metadata.size);
  const fileKey = createObjectKey(workspaceId, 'library');
  await copy(from, fileKey).catch(async (error: unknown) => {
    if (!(error instanceof StorageUnavailableError)) throw error;
    // Throws 404 if the recording has been deleted, because the missing file is then not a failure of the store.
    await findFile(services, caller, { recordingId });
    throw storageUnavailable('Upload failed: storage service unavailable', error);
  });
  const actor = { userId: caller.userId, name: caller.name, workspaceId };
  const add = (posterKey: string | null) =>
    addItem(services, actor, {
      ...metadata,
      name: name || toVideoName(ownName),
      description,
      fileKey,
      type: 'video/mp4',
      // The worker has looked at the recording before.
      isPending: false,
      isSeekable: true,
      ...(posterKey !== null && { poster: { key: posterKey, origin } }),
    });
  return commitFile(services, { workspaceId, fileKey }, async () => {
    const posterKey = await copyPoster(services, copy, workspaceId, posterFrom);
    if (posterKey === null) return add(null);
    return commitFile(services, { workspaceId, fileKey: posterKey }, () => add(posterKey));
  });
}

/** Returns the recording's file and its metadata. Throws if the library cannot store the file. */
async function findFile(services: Services, caller: Caller, input: RecordingInput) {
  const found = await findRecording(services.db.sql, caller, input);
  const { workspaceId, name, status, fileKey, posterKey, sha256, size, duration, mediaType } = found;
  if (status === 'failed') throw conflict('The recording has failed');
  if (status !== 'available' || fileKey === null) throw conflictForNow('The recording is not available yet');
  if (mediaType !== 'video/mp4') throw badField('recordingId', 'Only PDF and MP4 files are supported');
  const maxBytes = Math.min(services.settings.maxItemBytes, MAX_COPIED_BYTES);
  if (size > maxBytes) throw badField('recordingId', `File is larger than ${formatBytes(maxBytes)}`);
  if (sha256 === null) throw new Error('A recording has a file but no hash');
  // 0 stands for an unknown duration.
  const seconds = duration > 0 && duration <= MAX_SECONDS ? duration : null;
  return { workspaceId, name, fileKey, posterKey, sha256: new Uint8Array(sha256), size, duration: seconds };
}

function toVideoName(name: string): string {
  return toItemName(/\.mp4$/i.test(name) ? name : `${name}.mp4`);
}
