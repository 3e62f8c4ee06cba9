import { randomUUID } from 'node:crypto';
import { access, constants, link, lstat, mkdir, open, opendir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../core/errors.ts';
import { ifExists } from '../core/files.ts';
import { createLimiter } from '../core/limiter.ts';
import type { Clock } from '../core/time.ts';
import { createDiskPartials, nameOfPartial } from './disk-append.ts';
import { listDirectory } from './disk-listing.ts';
import { DIRECTORY_MODE, FILE_MODE, linkFile, onDisk, publishFile, stageCopy, stageFile } from './disk-upload.ts';
import { assertObjectKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { ObjectMissingError, StorageFullError, StorageUnavailableError } from './object-store.ts';
import { createSharedFiles, type SharedFile } from './shared-files.ts';
import { createUrlSigner } from './signed-url.ts';
import { withoutUploads } from './stale-uploads.ts';

/**
 * A file that is open for reading. Its readers share the handle, so they read at explicit positions. The receiver must
 * call `close`. Objects never change, so the ETag is strong.
 */
export type OpenedFile = Omit<SharedFile, 'mtimeNs'> & {
  etag: string;
  filename: string;
  contentType: string;
  isInline: boolean;
};

/** The part of the disk store that serves signed URLs. */
export type DiskFiles = {
  /**
   * Opens the file of a signed URL. `key` is the decoded path after `/files/`, `query` the raw query string. Throws 403
   * if the URL is expired, altered or malformed, 404 if the object was deleted, and StorageUnavailableError if the disk
   * fails.
   */
  openSigned(key: string, query: string): Promise<OpenedFile>;
};

export type DiskStoreOptions = {
  /** A directory for this store only. It is created if it does not exist. */
  root: string;
  /** The key that signs URLs, at least 16 characters. All processes that share the directory need the same key. */
  signingSecret: string;
  /** Previous keys, whose URLs are still valid. */
  previousSigningSecrets?: readonly string[];
  clock: Clock;
  /** Uploads are rejected while fewer bytes than this are free on the disk. */
  reserveBytes?: number;
  /** Gives a file another name. Tests replace it by that of a file system that cannot do it. */
  link?: typeof link;
};

const MIB = 1024 * 1024;

/**
 * Uploads are rejected if less than this is free. A full disk would stop a database on the same disk, and without the
 * database, no file can be deleted. Checked when an upload begins, so concurrent uploads can use part of the reserve.
 */
const RESERVE_BYTES = 256 * MIB;

/**
 * How many files are copied at a time. Each copy occupies one of the few threads of the process that do all work with
 * files, and uploads and downloads need the others.
 */
const MAX_COPIES = 2;

/**
 * Stores objects as files under `<root>/objects/<key>`. An upload is written to `<root>/staging`, flushed to the disk
 * and then renamed, so that a crash leaves either the whole object or none. An object never changes, so its copy is
 * another name of the same file, where the file system allows it. Empty directories are not removed, because this would
 * race with uploads into them. Rejects with StorageUnavailableError if the directories cannot be created.
 */
export async function createDiskStore(options: DiskStoreOptions): Promise<ObjectStore & DiskFiles> {
  const { reserveBytes = RESERVE_BYTES, link: linkTo = link } = options;
  const root = resolve(options.root);
  const objects = join(root, 'objects');
  const staging = join(root, 'staging');
  const partials = join(root, 'partial');
  const signer = createUrlSigner(options.signingSecret, options.clock, options.previousSigningSecrets);
  const sharedFiles = createSharedFiles();

  await onDisk('create its directories', async () => {
    await mkdir(objects, { recursive: true, mode: DIRECTORY_MODE });
    await mkdir(staging, { recursive: true, mode: DIRECTORY_MODE });
    await mkdir(partials, { recursive: true, mode: DIRECTORY_MODE });
  });

  const requireSpace = async (bytes = 0): Promise<void> => {
    const { bavail, bsize } = await onDisk('read its free space', () => statfs(staging));
    if (bavail * bsize >= reserveBytes + bytes) return;
    throw new StorageFullError(
      `Uploads are refused: less than ${Math.round(reserveBytes / MIB)} MiB is free on the disk`,
    );
  };

  const pathOf = (key: string): string => {
    assertObjectKey(key);
    return join(objects, key);
  };

  /** Lets `stage` write a file to the staging directory, then moves it to `target`. */
  const publish = async (target: string, stage: (staged: string) => Promise<void>): Promise<void> => {
    const staged = join(staging, randomUUID());
    try {
      await requireSpace();
      await stage(staged);
      await onDisk('publish an upload', () => publishFile(staged, target, objects));
    } catch (error) {
      // If this also fails, removeStaleUploads removes the file later. The first error is reported.
      await rm(staged, { force: true }).catch(() => undefined);
      throw error;
    }
  };

  const copies = createLimiter<'all'>({ max: MAX_COPIES, maxQueued: Number.POSITIVE_INFINITY });
  /** How much the copies in progress may still write. */
  let bytesToCopy = 0;
  /** Copies a file to the staging directory, or that of partial objects, if that leaves the reserve free. */
  const stageCopyOf = (staged: string, source: string): Promise<void> =>
    copies.run('all', async () => {
      const { size } = await stat(source);
      bytesToCopy += size;
      try {
        await requireSpace(bytesToCopy);
        await stageCopy(staged, source);
      } finally {
        bytesToCopy -= size;
      }
    });

  // Detects a disk that is not mounted. Otherwise every object would seem to be missing, although it exists.
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
      const target = pathOf(to);
      const isLinked = await onDisk('copy an object', async () => {
        // If the disk is not mounted, this fails before the link creates its directory elsewhere.
        await stat(source);
        return linkFile(linkTo, source, target, objects);
      });
      if (!isLinked) await publish(target, (staged) => onDisk('copy an object', () => stageCopyOf(staged, source)));
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
        yield* listDirectory(objects, prefix);
        await assertMounted();
      } catch (error) {
        throw new StorageUnavailableError('The disk store could not list objects', error);
      }
    },

    partial: createDiskPartials({ directory: partials, objects, pathOf, requireSpace, stageCopy: stageCopyOf }),

    async read(key, { start, end } = { start: 0 }) {
      const path = pathOf(key);
      const handle = await onDisk('open an object', async () => {
        const opened = await ifExists(open(path, 'r'));
        if (opened === undefined) await assertMounted();
        return opened;
      });
      if (handle === undefined) throw new ObjectMissingError(undefined);
      // The last byte of a stream of node:fs is inclusive.
      return handle.createReadStream({ start, ...(end !== undefined && { end: end - 1 }) });
    },

    async removeStaleUploads(before, findInProgress) {
      await onDisk('remove stale uploads', async () => {
        for (const directory of [staging, partials]) {
          for await (const { path } of withoutUploads(staleFiles(directory, before), findInProgress))
            await rm(path, { force: true });
        }
      });
    },

    async checkReady() {
      await onDisk('write files', async () => {
        const probe = join(staging, randomUUID());
        await access(objects, constants.R_OK | constants.W_OK | constants.X_OK);
        // Only writing detects a full or read-only disk.
        await writeFile(probe, 'ready', { flag: 'wx', mode: FILE_MODE }).finally(() => rm(probe, { force: true }));
      });
      await requireSpace();
    },

    async openSigned(key, query) {
      const grant = signer.verify(key, query);
      const opened = await onDisk('open an object', async () => {
        const file = await sharedFiles.open(pathOf(grant.key));
        if (file === undefined) await assertMounted();
        return file;
      });
      if (opened === undefined) throw new AppError('NOT_FOUND', 'File not found');
      const { mtimeNs, ...file } = opened;
      const etag = `"${file.size.toString(16)}-${mtimeNs.toString(16)}"`;
      return { ...file, etag, filename: grant.filename, contentType: grant.contentType, isInline: grant.isInline };
    },
  };
}

/** Yields the files in a directory that were last changed before `before`. */
async function* staleFiles(directory: string, before: Date): AsyncGenerator<{ path: string; name: string }> {
  for await (const { name: file } of await opendir(directory)) {
    const path = join(directory, file);
    const found = await ifExists(lstat(path));
    if (found?.isFile() && found.mtime < before) yield { path, name: nameOfPartial(file) };
  }
}
