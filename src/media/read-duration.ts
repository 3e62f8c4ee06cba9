/** Reads the duration of a stored file. */
import type { Services } from '../services.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { ObjectMissingError, StorageUnavailableError } from '../storage/object-store.ts';
import type { MediaType } from './file-type.ts';
import { MediaTimeout, runInSharedThread, UnreadableFile } from './media-threads.ts';

/** How long an operation waits for a duration before it responds without one. */
export const ANSWER_MS = 3_000;

/**
 * `isPending` means that the duration could not be read now, because the store or this process is slow. `isSeekable` is
 * as in MediaResult.
 */
export type Duration = { duration: number | null; isPending: boolean; isSeekable: boolean };

const UNKNOWN: Duration = { duration: null, isPending: false, isSeekable: true };

/** A stored file, and as much of its beginning as is known. */
export type StoredMedia = { workspaceId: number; fileKey: string; size: number; type: MediaType; head?: Uint8Array };

/**
 * Reads the duration in whole seconds, with at most 20 requests to the store; null if the file does not tell it. A
 * damaged or forged file has no duration.
 *
 * Throws ObjectMissingError if the object does not exist.
 */
export async function readDuration(
  { store, log }: Pick<Services, 'store' | 'log'>,
  { workspaceId, fileKey, size, type, head = new Uint8Array() }: StoredMedia,
  timeoutMs: number,
): Promise<Duration> {
  if (type === 'application/pdf') return UNKNOWN;
  const bytes = { read: readRangeOf(store, fileKey), write: async () => undefined };
  try {
    const task = { kind: 'duration', size, head } as const;
    const { duration, isSeekable } = await runInSharedThread(workspaceId, task, bytes, timeoutMs);
    return { duration, isPending: false, isSeekable };
  } catch (error) {
    if (error instanceof UnreadableFile) return UNKNOWN;
    if (error instanceof ObjectMissingError) throw error;
    if (!(error instanceof MediaTimeout || error instanceof StorageUnavailableError)) throw error;
    log.warn({ err: error, key: fileKey }, 'The duration of a file was not read; it will be tried again');
    return { ...UNKNOWN, isPending: true };
  }
}

/** Returns a function that reads a range of an object. It throws the errors of the store, also for a shorter object. */
export function readRangeOf(
  store: ObjectStore,
  key: string,
): (start: number, end: number) => Promise<Uint8Array<ArrayBuffer>> {
  return async (start, end) => {
    const bytes = new Uint8Array(end - start);
    let filled = 0;
    try {
      for await (const chunk of await store.read(key, { start, end })) {
        bytes.set(chunk, filled);
        filled += chunk.length;
      }
    } catch (error) {
      if (error instanceof ObjectMissingError || error instanceof StorageUnavailableError) throw error;
      throw new StorageUnavailableError('The store ended a read early', error);
    }
    if (filled < bytes.length) throw new StorageUnavailableError('The object is shorter than expected', undefined);
    return bytes;
  };
}
