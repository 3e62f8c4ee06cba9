/**
 * Gives the files of what is moved to the trash new keys. Its download URLs work without the database, and an object
 * store serves them itself, so they end only with the object: the copy stays, and the object is removed.
 */
import { storageUnavailable } from '../../core/errors.ts';
import { copyPoster } from '../../media/posters.ts';
import { commitFile } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import type { CopyObject } from '../../storage/copy-slots.ts';
import { createObjectKey } from '../../storage/create-object-key.ts';
import { discardObjects } from '../../storage/discarded-objects.ts';
import { StorageUnavailableError } from '../../storage/object-store.ts';

/** The keys of a file and its poster. A recording that has failed has neither. */
type Keys = { fileKey: string | null; posterKey: string | null };
export type Files = Keys & { id: number };
export type Copies<Found extends Files = Files> = Keys & { from: Found };

/** How many files of a call are copied at a time: not more than a store copies, so that none waits for the others. */
const BATCH_SIZE = 2;

/**
 * Copies the files and their posters with `copy`. `exists` tells whether something still exists whose file cannot be
 * copied: what was deleted meanwhile is left out. Throws 500 "Storage service unavailable", and the errors of `copy`,
 * and then leaves no copy behind.
 */
export async function copyFiles<Found extends Files>(
  services: Services,
  copy: CopyObject,
  workspaceId: number,
  files: readonly Found[],
  exists: (file: Files) => Promise<boolean>,
): Promise<Copies<Found>[]> {
  const copies: Copies<Found>[] = [];
  try {
    for (let start = 0; start < files.length; start += BATCH_SIZE) {
      const batch = files
        .slice(start, start + BATCH_SIZE)
        .map((from) => copyOne(services, copy, workspaceId, from, exists));
      const results = await Promise.allSettled(batch);
      for (const result of results)
        if (result.status === 'fulfilled' && result.value !== null) copies.push(result.value);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    }
    return copies;
  } catch (error) {
    await discardObjects(services, copies.flatMap(keysOf));
    throw error;
  }
}

async function copyOne<Found extends Files>(
  services: Services,
  copy: CopyObject,
  workspaceId: number,
  from: Found,
  exists: (file: Files) => Promise<boolean>,
): Promise<Copies<Found> | null> {
  const posterKey = await copyPoster(services, copy, workspaceId, from.posterKey);
  if (from.fileKey === null) return { from, fileKey: null, posterKey };
  // In the folder of the file that it replaces.
  const fileKey = createObjectKey(workspaceId, from.fileKey.includes('/recordings/') ? 'recordings' : 'library');
  try {
    await copy(from.fileKey, fileKey);
  } catch (error) {
    if (posterKey !== null) await discardObjects(services, [posterKey]);
    if (!(error instanceof StorageUnavailableError)) throw error;
    if (!(await exists(from))) return null;
    throw storageUnavailable('Storage service unavailable', error);
  }
  return { from, fileKey, posterKey };
}

/** Calls `commit`, which writes the rows that refer to the copies. If it throws, removes the copies. */
export function commitCopies<Result>(
  services: Services,
  workspaceId: number,
  copies: readonly Copies[],
  commit: () => Promise<Result>,
): Promise<Result> {
  return copies
    .flatMap(keysOf)
    .reduce<() => Promise<Result>>(
      (next, fileKey) => () => commitFile(services, { workspaceId, fileKey }, next),
      commit,
    )();
}

export function keysOf({ fileKey, posterKey }: Keys): string[] {
  return [fileKey, posterKey].filter((key) => key !== null);
}
