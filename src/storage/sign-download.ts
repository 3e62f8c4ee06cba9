/** Creates the response of every download operation. */
import { storageUnavailable } from '../core/errors.ts';
import { type Clock, toUnixSeconds } from '../core/time.ts';
import { safeFilename } from './content-disposition.ts';
import { type DownloadOptions, type ObjectStore, StorageUnavailableError } from './object-store.ts';

const extensions: Record<string, string> = {
  'application/pdf': '.pdf',
  'video/mp4': '.mp4',
  'video/webm': '.webm',
};

export type DownloadSettings = {
  /** How long a download URL works. */
  downloadSeconds: number;
};

type Presented = Pick<DownloadOptions, 'filename' | 'contentType' | 'isInline' | 'origin'>;

/**
 * Returns a URL that serves the object for 15 minutes (by default), as an attachment unless `isInline` is set, and its
 * expiry time (Unix timestamp in seconds). Throws STORAGE_UNAVAILABLE.
 */
export async function signDownload(
  { store, clock, settings: { downloadSeconds } }: { store: ObjectStore; clock: Clock; settings: DownloadSettings },
  key: string,
  presented: Presented,
): Promise<{ url: string; expires_at: number }> {
  const expiresAt = toUnixSeconds(clock.now()) + downloadSeconds;
  const filename = filenameFor(presented.filename, presented.contentType);
  const options = { ...presented, filename, expiresInSeconds: downloadSeconds };
  const url = await store.signDownload(key, options).catch((error: unknown) => {
    throw error instanceof StorageUnavailableError ? storageUnavailable('Storage service unavailable', error) : error;
  });
  return { url, expires_at: expiresAt };
}

/**
 * Replaces path separators with hyphens, and appends the extension of the content type: operating systems choose the
 * program by the extension, and opening a download must not execute a file that somebody named `run.bat`. A name with
 * nothing before the extension becomes `download`.
 */
function filenameFor(filename: string, contentType: string): string {
  const extension = extensions[contentType] ?? '';
  const name = filename.replace(/[/\\]/g, '-');
  const stem = name.toLowerCase().endsWith(extension) ? name.slice(0, name.length - extension.length) : name;
  return safeFilename(stem) + extension;
}
