/** File operations that node:fs lacks. */
import { randomUUID } from 'node:crypto';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Whether an error has one of the given system error codes, such as `ENOENT`. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}

/** Awaits a file operation. Resolves with undefined if the file, or a directory above it, does not exist. */
export async function ifExists<Result>(operation: Promise<Result>): Promise<Result | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/**
 * Writes a file that only the user of this process can read. Replaces an existing file. Readers see either the old or
 * the new content, never a mixture or only part of it. When the promise resolves, the new content is on disk.
 */
export function replaceFile(path: string, content: string): Promise<void> {
  return publishFile(path, content, (staged) => rename(staged, path));
}

/**
 * Writes a file that only the user of this process can read, unless it already exists. If several processes do this at
 * the same time, one of them writes the file. When the promise resolves, the complete file is on disk.
 */
export function createFileIfMissing(path: string, content: string): Promise<void> {
  return publishFile(path, content, async (staged) => {
    try {
      await link(staged, path);
    } catch (error) {
      if (!hasErrorCode(error, 'EEXIST')) throw error;
    }
  });
}

async function publishFile(path: string, content: string, publish: (staged: string) => Promise<void>): Promise<void> {
  const staged = `${path}.${randomUUID()}`;
  try {
    await writeFile(staged, content, { mode: 0o600, flag: 'wx', flush: true });
    await publish(staged);
  } finally {
    await rm(staged, { force: true });
  }
  await syncDirectory(dirname(path));
}

/** Flushes a directory to disk, so that files created in it or moved into it survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
