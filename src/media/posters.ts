/** Posters: small images that lists show of videos and documents. Browsers make them, because Node has no decoder. */
import { notFound } from '../core/errors.ts';
import type { Services } from '../services.ts';
import type { CopyObject } from '../storage/copy-slots.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { type PosterType, readPosterImage } from './poster-image.ts';
import { createImageKey, readStoredImage, type StoredImage, storeImage, typeOfKey } from './stored-images.ts';

/** A poster that is sent to a browser. `version` changes with the poster. */
export type Poster = StoredImage<PosterType> & { version: string };

const VERSION_LENGTH = 8;

/**
 * Stores the image and calls `commit` with its key, which locks the workspace and writes the row that refers to it.
 * Throws 400 unless the bytes are such an image, 500 "Upload failed: storage service unavailable", and the errors of
 * `commit`, after which the object is removed.
 */
export async function storePoster<Result>(
  services: Services,
  workspaceId: number,
  bytes: Buffer,
  commit: (posterKey: string) => Promise<Result>,
): Promise<Result> {
  return storeImage(services, { workspaceId, kind: 'posters', image: readPosterImage(bytes) }, commit);
}

/** Copies a poster to a new key. Returns null without one, or if the store fails: pages then show an icon. */
export async function copyPoster(
  { log }: Pick<Services, 'log'>,
  copy: CopyObject,
  workspaceId: number,
  from: string | null,
): Promise<string | null> {
  if (from === null) return null;
  const to = createImageKey(workspaceId, 'posters', typeOfKey(from));
  try {
    await copy(from, to);
    return to;
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    log.warn({ err: error, key: from }, 'Failed to copy a poster');
    return null;
  }
}

/** Throws 404 "Poster not found", also without a key, and 500 "Download failed: storage service unavailable". */
export async function readPoster(services: Pick<Services, 'store'>, posterKey: string | null): Promise<Poster> {
  const image = posterKey === null ? null : await readStoredImage<PosterType>(services, posterKey);
  if (image === null || posterKey === null) throw notFound('Poster');
  return { ...image, version: versionOf(posterKey) };
}

/** Random characters of the key. */
function versionOf(posterKey: string): string {
  return posterKey.slice(posterKey.lastIndexOf('/') + 1).slice(0, VERSION_LENGTH);
}

/**
 * SQL for the URL of a poster, which changes with the poster so that browsers can keep it. `path` is SQL for the path
 * of the item or recording. `$origin` is the origin of the URL.
 */
export function posterUrlOf(column: string, path: string): string {
  return `case when ${column} is not null then
        $origin || ${path} || '/poster?v=' || left(substring(${column} from '[^/]+$'), ${VERSION_LENGTH}) end`;
}
