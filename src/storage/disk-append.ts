/** Objects on the disk that are written in several steps. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasErrorCode, ifExists } from '../core/files.ts';
import { FILE_MODE, onDisk, publishFile, writeAll } from './disk-upload.ts';
import { ObjectMissingError, type PartialObject, type PartialObjects } from './object-store.ts';

/** How many bytes, in how many chunks, are collected for one write. A client may send chunks of one byte. */
const WRITE_BYTES = 1024 * 1024;
const WRITE_CHUNKS = 1024;
/** How many bytes may be written before they are flushed to the disk and reported as stored. */
const FLUSH_BYTES = 16 * 1024 * 1024;

/** `file` is the name of the file below the directory of partial objects. */
type DiskPartial = PartialObject & { file: string };

export type DiskAppendOptions = {
  /** The directory of partial objects. */
  directory: string;
  /** The directory of finished objects, and the path of an object in it. */
  objects: string;
  pathOf(key: string): string;
  /** Throws StorageFullError if the disk has little space left. */
  requireSpace(): Promise<void>;
  /** Copies `source` to a new file, which is on disk when this resolves. Rejects with the file system's error. */
  stageCopy(path: string, source: string): Promise<void>;
};

/**
 * Each partial object is one file, to which bytes are written at the position that the state names. Its name begins
 * with the last segment of the key.
 */
export function createDiskPartials({
  directory,
  objects,
  pathOf,
  requireSpace,
  stageCopy,
}: DiskAppendOptions): PartialObjects {
  const locate = ({ file }: DiskPartial): string => join(directory, file);
  const newFile = (key: string): string => `${basename(pathOf(key))}.${randomUUID()}`;

  /** Whether `complete` has published the object, perhaps without its caller learning about it. */
  const isPublished = (key: string, { size }: DiskPartial): Promise<boolean> =>
    onDisk('read an object', async () => (await ifExists(stat(pathOf(key))))?.size === size);

  return {
    async append(key, state, source, { onStored }) {
      await requireSpace();
      const current = state === null ? { size: 0, file: newFile(key) } : toDiskPartial(state);
      const handle = await openPartial(locate(current), state === null);
      let isReferenced = state !== null;
      try {
        await appendTo(handle, current, source, (next) => {
          isReferenced = true;
          return onStored(next);
        });
      } finally {
        await onDisk('close an upload', () => handle.close());
        if (!isReferenced) await rm(locate(current), { force: true }).catch(() => undefined);
      }
    },

    async complete(key, state) {
      const partial = toDiskPartial(state);
      const isDone = await onDisk('publish an upload', async () => {
        if (!(await cutToSize(locate(partial), partial.size))) return false;
        await publishFile(locate(partial), pathOf(key), objects);
        return true;
      });
      if (!isDone && !(await isPublished(key, partial))) throw new ObjectMissingError(undefined);
    },

    async discard(_key, state) {
      await onDisk('remove an upload', () => rm(locate(toDiskPartial(state)), { force: true }));
    },

    async takeOver(key, state, onStored) {
      await requireSpace();
      const previous = toDiskPartial(state);
      const partial = { ...previous, file: newFile(key) };
      // A process that still has the previous file open keeps writing to it, and not to the copy.
      const isCopied = await onDisk('copy an upload', () =>
        ifExists(stageCopy(locate(partial), locate(previous)).then(() => true)),
      );
      if (!isCopied) {
        // The process was completing the object, so nobody writes to it any more.
        if (await isPublished(key, previous)) return previous;
        throw new ObjectMissingError(undefined);
      }
      await onStored(partial);
      // If this fails, removeStaleUploads removes the file.
      await rm(locate(previous), { force: true }).catch(() => undefined);
      return partial;
    },
  };
}

/** Returns the last segment of the key to which a file of a partial object belongs. */
export function nameOfPartial(file: string): string {
  const dot = file.lastIndexOf('.');
  return dot === -1 ? file : file.slice(0, dot);
}

/** `as`: the state was created by this store. */
function toDiskPartial(state: PartialObject): DiskPartial {
  return state as DiskPartial;
}

/** Removes bytes after `size`, which no state counts. Returns false if the file does not exist or is too short. */
async function cutToSize(path: string, size: number): Promise<boolean> {
  const found = await ifExists(stat(path));
  if (found === undefined || found.size < size) return false;
  if (found.size === size) return true;
  await using handle = await open(path, 'r+');
  await handle.truncate(size);
  await handle.sync();
  return true;
}

async function openPartial(path: string, isNew: boolean): Promise<FileHandle> {
  return onDisk('open an upload', () => open(path, isNew ? 'wx' : 'r+', FILE_MODE)).catch((error: unknown) => {
    if (!isNew && error instanceof Error && hasErrorCode(error.cause, 'ENOENT')) throw new ObjectMissingError(error);
    throw error;
  });
}

async function appendTo(
  handle: FileHandle,
  { size, file }: DiskPartial,
  source: AsyncIterable<Buffer>,
  onStored: (state: PartialObject) => Promise<void>,
): Promise<void> {
  let written = size;
  let stored = size;
  let chunks: Buffer[] = [];
  let collected = 0;
  const write = async (): Promise<void> => {
    await onDisk('write an upload', () => writeAll(handle, chunks, written));
    written += collected;
    chunks = [];
    collected = 0;
  };
  const flush = async (): Promise<void> => {
    if (collected > 0) await write();
    if (written === stored) return;
    await onDisk('flush an upload', () => handle.datasync());
    stored = written;
    const state: DiskPartial = { size: stored, file };
    await onStored(state);
  };
  const iterator = source[Symbol.asyncIterator]();
  for (;;) {
    let next: IteratorResult<Buffer>;
    try {
      next = await iterator.next();
    } catch (error) {
      await flush();
      throw error;
    }
    if (next.done) return flush();
    try {
      chunks.push(next.value);
      collected += next.value.length;
      if (collected >= WRITE_BYTES || chunks.length >= WRITE_CHUNKS) await write();
      if (written - stored >= FLUSH_BYTES) await flush();
    } catch (error) {
      await iterator.return?.();
      throw error;
    }
  }
}
