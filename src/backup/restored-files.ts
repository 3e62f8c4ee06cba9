/** The files of a backup on their way into the store. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists } from '../core/files.ts';
import { copyFile } from './copy-file.ts';
import { BackupError, FILES, type Manifest, readFileList } from './manifest.ts';
import type { RestoreOptions } from './restore-options.ts';

export type RestoredFiles = {
  /** Puts the restored files in place of the old ones, which are renamed and stay next to them. */
  publish(): Promise<void>;
  /** Removes the old files. */
  removeOld(): Promise<void>;
  /** Removes the restored files, and puts the old ones back. */
  discard(): Promise<void>;
};

/** Copies the files to a place next to the store's directory, and checks each again. */
export async function restoreFiles(
  { from, onStep, signal, ...options }: RestoreOptions & { filesRoot: string },
  { store }: Manifest,
): Promise<RestoredFiles> {
  // If the directory is a symlink, the symlink stays, and the files are written to the disk that it points to.
  const filesRoot = (await ifExists(realpath(options.filesRoot))) ?? options.filesRoot;
  const staged = `${filesRoot}.restored-${randomUUID()}`;
  const old = `${filesRoot}.replaced-${randomUUID()}`;
  let isPublished = false;
  const discard = async (): Promise<void> => {
    if (isPublished) await rename(filesRoot, staged);
    if (existsSync(old)) await rename(old, filesRoot);
    await rm(staged, { recursive: true, force: true });
  };
  try {
    await onStep('Writing files');
    await mkdir(join(staged, 'objects'), { recursive: true, mode: 0o700 });
    for await (const { key, size, sha256 } of readFileList(from)) {
      const copied = await copyFile(join(from, FILES, key), join(staged, 'objects', key), signal);
      if (copied?.sha256 !== sha256 || copied.size !== size)
        throw new BackupError(`The backup is damaged: ${join(from, FILES, key)} was changed`);
    }
    // The database records the ID of the store that holds its files. A directory that contains this ID counts as that
    // store.
    if (store?.startsWith('disk:'))
      await writeFile(join(staged, 'store-id'), `${store}\n`, { mode: 0o600, flush: true });
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    async publish() {
      if (existsSync(filesRoot)) await rename(filesRoot, old);
      await rename(staged, filesRoot);
      isPublished = true;
    },
    removeOld: () => rm(old, { recursive: true, force: true }),
    discard,
  };
}
