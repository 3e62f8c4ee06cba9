import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { access, constants, lstat, mkdir, open, opendir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../core/errors.ts';
import { ifExists } from '../core/files.ts';
import type { Clock } from '../core/time.ts';
import { listFolder } from './disk-listing.ts';
import { FILE_MODE, FOLDER_MODE, onDisk, publishFile, stageCopy, stageFile } from './disk-upload.ts';
import { assertObjectKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { StorageUnavailableError } from './object-store.ts';
import { createUrlSigner } from './signed-url.ts';

/** One file, open for reading. Whoever receives it closes the handle. Objects never change, so the ETag is strong. */
export type OpenedFile = {
  handle: FileHandle;
  size: number;
  modifiedAt: Date;
  etag: string;
  filename: string;
  contentType: string;
};

/** What the route that serves signed URLs needs of the disk store. */
export type DiskFiles = {
  /**
   * Opens what a signed URL grants: `key` is the decoded path after `/files/`, `query` the raw query string.
   * Throws 403 when the URL is expired, altered or malformed, 404 when the object is gone, and StorageUnavailableError.
   */
  openSigned(key: string, query: string): Promise<OpenedFile>;
};

export type DiskStoreOptions = {
  /** Folder of the store's own; created when missing. */
  root: string;
  /** Key of the URL signatures, at least 16 characters; the same in every process that shares the folder. */
  signingSecret: string;
  clock: Clock;
};

/**
 * What uploads leave free of the disk. A full one stops the database beside it, and with it the deleting that would make
 * room again. Looked at when an upload begins, so that those under way together may take from it.
 */
const RESERVE_BYTES = 256 * 1024 * 1024;

/**
 * Keeps objects as files under `<root>/objects/<key>`. An upload is written to `<root>/staging`, flushed to the disk and
 * then renamed, so that a crash at any moment leaves either the whole object or none.
 * Folders stay when their last object goes: removing them would race with uploads into them, and an empty folder costs
 * nothing. Rejects with StorageUnavailableError when the folders cannot be created.
 */
export async function createDiskStore(options: DiskStoreOptions): Promise<ObjectStore & DiskFiles> {
  const root = resolve(options.root);
  const objects = join(root, 'objects');
  const staging = join(root, 'staging');
  const signer = createUrlSigner(options.signingSecret, options.clock);

  await onDisk('prepare the folders', async () => {
    await mkdir(objects, { recursive: true, mode: FOLDER_MODE });
    await mkdir(staging, { recursive: true, mode: FOLDER_MODE });
  });

  const requireSpace = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(staging);
    if (bavail * bsize < RESERVE_BYTES) throw new Error(`Less than ${RESERVE_BYTES} bytes are free`);
  };

  const pathOf = (key: string): string => {
    assertObjectKey(key);
    return join(objects, key);
  };

  /** Has `stage` write a file into staging, and moves it to `target`. */
  const publish = async (target: string, stage: (staged: string) => Promise<void>): Promise<void> => {
    const staged = join(staging, randomUUID());
    try {
      await onDisk('take another file', requireSpace);
      await stage(staged);
      await onDisk('publish an upload', () => publishFile(staged, target, objects));
    } catch (error) {
      // Left-overs of a failing disk are removeStaleUploads' work; the first error is the one that explains.
      await rm(staged, { force: true }).catch(() => undefined);
      throw error;
    }
  };

  // Where a disk is not mounted every object looks absent, and believing that would delete records of files that exist.
  const assertMounted = () => stat(objects);

  return {
    async put(key, source, { signal }) {
      const target = pathOf(key);
      try {
        await publish(target, async (staged) => {
          await stageFile(staged, source, signal);
          signal?.throwIfAborted();
        });
      } catch (error) {
        throw signal?.aborted ? signal.reason : error;
      }
    },

    async copy(from, to) {
      const source = pathOf(from);
      await publish(pathOf(to), (staged) => onDisk('copy an object', () => stageCopy(staged, source)));
    },

    async remove(key, { signal } = {}) {
      signal?.throwIfAborted();
      const path = pathOf(key);
      await onDisk('remove an object', async () => {
        await ifExists(rm(path));
        await assertMounted();
      });
    },

    async signDownload(key, download) {
      return signer.sign(key, download);
    },

    async *list(prefix) {
      try {
        yield* listFolder(objects, prefix);
        await assertMounted();
      } catch (error) {
        throw new StorageUnavailableError('The disk store could not list objects', error);
      }
    },

    async removeStaleUploads(before) {
      await onDisk('remove stale uploads', async () => {
        for await (const { name } of await opendir(staging)) {
          const path = join(staging, name);
          const found = await ifExists(lstat(path));
          if (found?.isFile() && found.mtime < before) await rm(path, { force: true });
        }
      });
    },

    async checkReady() {
      await onDisk('take files', async () => {
        const probe = join(staging, randomUUID());
        await access(objects, constants.R_OK | constants.W_OK | constants.X_OK);
        // Only writing tells a full or read-only disk.
        await writeFile(probe, 'ready', { flag: 'wx', mode: FILE_MODE }).finally(() => rm(probe, { force: true }));
      });
    },

    async openSigned(key, query) {
      const grant = signer.verify(key, query);
      const opened = await onDisk('open an object', async () => {
        const file = await openFile(pathOf(grant.key));
        if (file === undefined) await assertMounted();
        return file;
      });
      if (opened === undefined) throw new AppError('NOT_FOUND', 'File not found');
      return { ...opened, filename: grant.filename, contentType: grant.contentType };
    },
  };
}

async function openFile(path: string): Promise<Omit<OpenedFile, 'filename' | 'contentType'> | undefined> {
  const handle = await ifExists(open(path, 'r'));
  if (handle === undefined) return undefined;
  try {
    const { size, mtimeNs, mtime, isFile } = await describeFile(handle);
    if (isFile) return { handle, size, modifiedAt: mtime, etag: `"${size.toString(16)}-${mtimeNs.toString(16)}"` };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

async function describeFile(handle: FileHandle) {
  const found = await handle.stat({ bigint: true });
  return { size: Number(found.size), mtimeNs: found.mtimeNs, mtime: found.mtime, isFile: found.isFile() };
}
