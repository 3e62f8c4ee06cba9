import type { FileHandle } from 'node:fs/promises';
import { constants, copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncDirectory } from '../core/files.ts';
import { StorageUnavailableError } from './object-store.ts';

/**
 * What one upload may hold in memory, besides a chunk of its source. Large writes make a disk fast; more gains nothing.
 */
const WRITE_BUFFER_BYTES = 1024 * 1024;

// Uploads are nobody else's on this machine.
export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;

/**
 * Streams `source` into a new file, which is on the disk when this resolves. Errors of the source pass unchanged, an
 * abort rejects with an AbortError, those of the disk come as StorageUnavailableError. On failure the source is
 * destroyed and the file stays as it is.
 */
export async function stageFile(path: string, source: Readable, signal: AbortSignal | undefined): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'wx', FILE_MODE);
  } catch (error) {
    source.on('error', () => undefined).destroy();
    throw diskUnavailable('open a staging file', error);
  }
  await pipeline(source, durableFile(handle), signal === undefined ? {} : { signal });
}

function diskUnavailable(what: string, cause: unknown): StorageUnavailableError {
  return new StorageUnavailableError(`The disk store could not ${what}`, cause);
}

/**
 * A stream into `handle` that finishes once all bytes are on the disk, and closes it in every case. The file streams of
 * node:fs cannot do this: they flush when they are closed, so also what is thrown away, and do not tell whose an error is.
 */
function durableFile(handle: FileHandle): Writable {
  let lastWrite: Promise<void> = Promise.resolve();
  return new Writable({
    highWaterMark: WRITE_BUFFER_BYTES,
    writev(chunks, done) {
      const buffers = chunks.map(({ chunk }): Buffer => chunk);
      lastWrite = writeAll(handle, buffers);
      settle('write an upload', lastWrite, done);
    },
    final(done) {
      settle('flush an upload', handle.sync(), done);
    },
    destroy(error, done) {
      // A write that is still queued must not meet the number of this handle in another file's hands.
      const closed = lastWrite.catch(() => undefined).then(() => handle.close());
      settle('close an upload', closed, (closeError) => done(error ?? closeError ?? null));
    },
  });
}

async function writeAll(handle: FileHandle, buffers: Buffer[]): Promise<void> {
  const { bytesWritten } = await handle.writev(buffers);
  const size = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  // A disk that is nearly full takes a part; writing the rest then brings the error, or succeeds.
  if (bytesWritten < size) await handle.writeFile(Buffer.concat(buffers).subarray(bytesWritten));
}

function settle(what: string, work: Promise<void>, done: (error?: Error) => void): void {
  work.then(
    () => done(),
    (error: unknown) => done(diskUnavailable(what, error)),
  );
}

/**
 * Copies a file into a new one, which is on the disk when this resolves; where the file system can, the two share their
 * blocks until one changes. Rejects with the file system's error.
 */
export async function stageCopy(path: string, source: string): Promise<void> {
  await copyFile(source, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await using handle = await open(path, 'r+');
  await handle.sync();
}

/**
 * Moves a staged file to its place below `objects` and makes the move durable, folders included. Rejects with the file
 * system's error, and then nothing is there.
 */
export async function publishFile(staged: string, target: string, objects: string): Promise<void> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  await rename(staged, target);
  try {
    // Up to the root, not only what this call created: a folder that a concurrent upload created may not be durable yet.
    for (let path = folder; ; path = dirname(path)) {
      await syncDirectory(path);
      if (path === objects) return;
    }
  } catch (error) {
    await rm(target, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Runs work on the disk; its errors come as StorageUnavailableError. */
export async function onDisk<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskUnavailable(what, error);
  }
}
