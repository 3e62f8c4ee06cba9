import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hasCode } from './errors.ts';

/** Returns the owner of a file or directory, or undefined if it does not exist. */
export async function findOwner(path: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes a file that only its owner can read. After a crash, the file is either complete or missing. */
export async function writeFileAtomically(path: string, content: string): Promise<void> {
  const staged = `${path}.${randomUUID()}`;
  try {
    await writeFile(staged, content, { mode: 0o600, flag: 'wx', flush: true });
    await rename(staged, path);
  } finally {
    await rm(staged, { force: true });
  }
}

/** Flushes the entries of a directory, so that a rename in it survives a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
