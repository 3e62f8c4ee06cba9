/** Images that are stored as objects. The end of the key says their type. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { storageUnavailable } from '../core/errors.ts';
import type { Services } from '../services.ts';
import { createObjectKey } from '../storage/create-object-key.ts';
import { ObjectMissingError, StorageUnavailableError } from '../storage/object-store.ts';
import { commitFile } from './receive-file.ts';

const endings = { 'image/jpeg': '.jpg', 'image/webp': '.webp', 'image/png': '.png' } as const;

export type ImageType = keyof typeof endings;
export type StoredImage<Type extends ImageType> = { type: Type; bytes: Buffer };

type NewImage = { workspaceId: number; kind: 'posters' | 'logos'; image: StoredImage<ImageType> };

const PUT_TIMEOUT_MS = 10_000;

/** A new key for an image of this type. */
export function createImageKey(workspaceId: number, kind: NewImage['kind'], type: ImageType): string {
  return createObjectKey(workspaceId, kind) + endings[type];
}

/**
 * Stores the image and calls `commit` with its key, which locks the workspace and writes the row that refers to it.
 * Throws 500 "Upload failed: storage service unavailable", and the errors of `commit`, after which the object is
 * removed.
 */
export async function storeImage<Result>(
  services: Services,
  { workspaceId, kind, image }: NewImage,
  commit: (key: string) => Promise<Result>,
): Promise<Result> {
  const fileKey = createImageKey(workspaceId, kind, image.type);
  const options = { contentType: image.type, signal: AbortSignal.timeout(PUT_TIMEOUT_MS) };
  await services.store.put(fileKey, Readable.from([image.bytes]), options).catch((error: unknown) => {
    if (!(error instanceof StorageUnavailableError) && !options.signal.aborted) throw error;
    throw storageUnavailable('Upload failed: storage service unavailable', error);
  });
  return commitFile(services, { workspaceId, fileKey }, () => commit(fileKey));
}

/** Returns null if the store has no such object. Throws 500 "Download failed: storage service unavailable". */
export async function readStoredImage<Type extends ImageType>(
  { store }: Pick<Services, 'store'>,
  key: string,
): Promise<StoredImage<Type> | null> {
  try {
    const bytes = await buffer(await store.read(key));
    return { type: typeOfKey(key), bytes };
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    if (!(error instanceof StorageUnavailableError)) throw error;
    throw storageUnavailable('Download failed: storage service unavailable', error);
  }
}

/** `Type`: the types that are stored under such keys. */
export function typeOfKey<Type extends ImageType>(key: string): Type {
  const [type] = Object.entries(endings).find(([, ending]) => key.endsWith(ending)) ?? ['image/jpeg'];
  // `as`: the keys of `endings` are the types, and `storeImage` has chosen the end of the key.
  return type as Type;
}
