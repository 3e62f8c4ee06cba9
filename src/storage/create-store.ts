import type { Clock } from '../core/time.ts';
import type { DiskFiles, DiskStoreOptions } from './disk-store.ts';
import { createDiskStore } from './disk-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3StoreOptions } from './s3-store.ts';

/** Where files are stored: in an S3 bucket or in a local directory. */
export type StorageSettings =
  | ({ kind: 's3' } & Omit<S3StoreOptions, 'clock'>)
  | ({ kind: 'disk' } & Omit<DiskStoreOptions, 'clock'>);

/** `files` serves the downloads under `/files`; undefined if S3 serves them. */
export type Storage = { store: ObjectStore; files: DiskFiles | undefined };

/**
 * Creates the store. Rejects with StorageUnavailableError if the directory of a disk store cannot be created. Does not
 * contact S3.
 */
export async function createObjectStore(settings: StorageSettings, clock: Clock): Promise<Storage> {
  if (settings.kind === 's3') {
    // The SDK takes 30 MB of memory, so only servers with S3 load it.
    const { createS3Store } = await import('./s3-store.ts');
    return { store: createS3Store({ ...settings, clock }), files: undefined };
  }
  const store = await createDiskStore({ ...settings, clock });
  return { store, files: store };
}
