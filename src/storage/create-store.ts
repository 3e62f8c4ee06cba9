import type { Clock } from '../core/time.ts';
import type { DiskFiles, DiskStoreOptions } from './disk-store.ts';
import { createDiskStore } from './disk-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3StoreOptions } from './s3-store.ts';
import { createS3Store } from './s3-store.ts';

/** Where files go: a bucket, or a folder of this machine. */
export type StorageSettings = ({ kind: 's3' } & S3StoreOptions) | ({ kind: 'disk' } & Omit<DiskStoreOptions, 'clock'>);

/** The store, and `files` for the `/files/*` route when we have to serve downloads ourselves. */
export type Storage = { store: ObjectStore; files: DiskFiles | undefined };

/** Rejects with StorageUnavailableError when the folder of a disk store cannot be created; S3 is not contacted. */
export async function createObjectStore(settings: StorageSettings, clock: Clock): Promise<Storage> {
  if (settings.kind === 's3') return { store: createS3Store(settings), files: undefined };
  const store = await createDiskStore({ ...settings, clock });
  return { store, files: store };
}
