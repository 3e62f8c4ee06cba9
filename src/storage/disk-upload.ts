import type { FileHandle } from 'node:fs/promises';
import { constants, copyFile, type link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasErrorCode, syncDirectory } from '../core/files.ts';
import { StorageUnavailableError } from './object-store.ts';

/** How much data an upload buffers, besides one chunk of its source. Larger writes are not faster. */
const WRITE_BUFFER_BYTES = 1024 * 1024;

// Only the user that runs the server may read uploads.
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** What `link` fails with if the file system, or its settings, or the number of links that a file has allow no more. */
const NO_LINK = ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/**
 * Streams `source` into a new file, which is on disk when this resolves. Rejects with errors of the source unchanged,
 * with an AbortError, or with StorageUnavailableError. On failure the source is destroyed and the partial file remains.
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
 * Creates a stream that writes to `handle`, finishes once all bytes are on disk, and always closes the handle. File
 * streams of node:fs are not suitable: they also flush a file that is about to be discarded, and do not distinguish
 * errors of the disk from those of the source.
 */
function durableFile(handle: FileHandle): Writable {
  let lastWrite: Promise<void> = Promise.resolve();
  return new Writable({
    highWaterMark: WRITE_BUFFER_BYTES,
    writev(chunks, done) {
      const buffers = chunks.map(({ chunk }): Buffer => chunk);
      lastWrite = writeAll(handle, buffers);
      reportResult('write an upload', lastWrite, done);
    },
    final(done) {
      reportResult('flush an upload', handle.sync(), done);
    },
    destroy(error, done) {
      // Wait for a queued write. Otherwise another file could get the file descriptor before it runs.
      const closed = lastWrite.catch(() => undefined).then(() => handle.close());
      reportResult('close an upload', closed, (closeError) => done(error ?? closeError ?? null));
    },
  });
}

/** Writes all buffers at `position`, or at the current position of the file. */
export async function writeAll(handle: FileHandle, buffers: Buffer[], position?: number): Promise<void> {
  const { bytesWritten } = await handle.writev(buffers, position);
  const size = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  if (bytesWritten === size) return;
  // A nearly full disk may accept only part of the data. Writing the rest then succeeds, or fails with the error of the
  // disk.
  const rest = Buffer.concat(buffers).subarray(bytesWritten);
  await writeAll(handle, [rest], position === undefined ? undefined : position + bytesWritten);
}

/** Calls `done` with the outcome of `work`. */
function reportResult(what: string, work: Promise<void>, done: (error?: Error) => void): void {
  work.then(
    () => done(),
    (error: unknown) => done(diskUnavailable(what, error)),
  );
}

/**
 * Copies `source` to a new file, which is on disk when this resolves. The two share their blocks if the file system
 * supports it. Rejects with the file system's error.
 */
export async function stageCopy(path: string, source: string): Promise<void> {
  await copyFile(source, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await using handle = await open(path, 'r+');
  await handle.sync();
}

/**
 * Moves a staged file to `target` below `objects`, and flushes all directories from there up to `objects`. If it
 * rejects, with the file system's error, there is no file at `target`, and the file is where it was.
 */
export async function publishFile(staged: string, target: string, objects: string): Promise<void> {
  const directory = dirname(target);
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  await rename(staged, target);
  try {
    await syncDirectories(directory, objects);
  } catch (error) {
    // The caller may try again. If this fails too, the file must not be readable.
    await rename(target, staged).catch(() => rm(target, { force: true }).catch(() => undefined));
    throw error;
  }
}

/**
 * Gives a published file, which never changes, another name `target` below `objects`, and flushes as `publishFile`
 * does. This takes no space, and as long for a large file as for a small one. Resolves with false if the file system
 * cannot do it. If it rejects, with the file system's error, there is no file at `target`.
 */
export async function linkFile(linkTo: typeof link, source: string, target: string, objects: string): Promise<boolean> {
  const directory = dirname(target);
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  try {
    await linkTo(source, target);
  } catch (error) {
    if (hasErrorCode(error, ...NO_LINK)) return false;
    throw error;
  }
  try {
    await syncDirectories(directory, objects);
  } catch (error) {
    await rm(target, { force: true }).catch(() => undefined);
    throw error;
  }
  return true;
}

/** Flushes a directory and those above it, up to `objects`. */
async function syncDirectories(directory: string, objects: string): Promise<void> {
  // Existing directories are also flushed, because a concurrent upload may have just created them.
  for (let path = directory; ; path = dirname(path)) {
    await syncDirectory(path);
    if (path === objects) return;
  }
}

/** Runs `work` and converts its errors to StorageUnavailableError. `what` completes "The disk store could not ...". */
export async function onDisk<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StorageUnavailableError ? error : diskUnavailable(what, error);
  }
}
