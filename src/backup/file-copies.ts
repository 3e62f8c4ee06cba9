/** The files in a backup that is being written. */
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '../db/connect.ts';
import { copyFile } from './copy-file.ts';
import { BackupError, FILE_LIST, FILES, type Manifest } from './manifest.ts';

export type FileCopies = {
  /** The directory that holds the objects of the store. */
  objects: string;
  /** The backup. */
  directory: string;
  /** The files that have been copied so far, by key. */
  copied: Map<string, { size: number; sha256: string }>;
};

const PAGE_SIZE = 1_000;

export function createFileCopies(filesRoot: string, directory: string): FileCopies {
  return { objects: join(filesRoot, 'objects'), directory, copied: new Map() };
}

/**
 * Copies every file that a row refers to and that has not been copied yet. Resolves with the keys of those that are not
 * in the store.
 *
 * @throws BackupError if the directory of the store is missing, for example because its disk is not mounted
 */
export async function addMissingFiles(
  client: Connection,
  { objects, directory, copied }: FileCopies,
  signal: AbortSignal,
): Promise<string[]> {
  const missing: string[] = [];
  for await (const key of listKeys(client)) {
    if (copied.has(key)) continue;
    const file = await copyFile(join(objects, key), join(directory, FILES, key), signal);
    if (file === undefined) missing.push(key);
    else copied.set(key, file);
  }
  // Otherwise every file would seem to be lost.
  if (missing.length > 0 && !existsSync(objects))
    throw new BackupError(`The directory of the files is missing: ${objects}`);
  return missing;
}

/** Yields the keys that rows refer to, each once, in their byte order. */
async function* listKeys(client: Connection): AsyncGenerator<string> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows }: { rows: { key: string }[] } = await client.query(
      `SELECT DISTINCT key COLLATE "C" AS key FROM stored_objects WHERE key COLLATE "C" > $1
       ORDER BY 1 LIMIT ${PAGE_SIZE}`,
      [after],
    );
    for (const { key } of rows) yield key;
    after = rows.length < PAGE_SIZE ? undefined : rows.at(-1)?.key;
  }
}

/** Writes the list of the files in the snapshot, and removes copies of files that are not in it. */
export async function writeFileList(
  client: Connection,
  { directory, copied }: FileCopies,
  missing: readonly string[],
): Promise<NonNullable<Manifest['files']>> {
  const hash = createHash('sha256');
  const unlisted = new Set(copied.keys());
  const lost = new Set(missing);
  const total = { count: 0, bytes: 0 };
  async function* lines(): AsyncGenerator<string> {
    for await (const key of listKeys(client)) {
      const file = copied.get(key);
      if (file === undefined || lost.has(key)) continue;
      unlisted.delete(key);
      total.count += 1;
      total.bytes += file.size;
      const line = `${JSON.stringify({ key, ...file })}\n`;
      hash.update(line);
      yield line;
    }
  }
  const file = createWriteStream(join(directory, FILE_LIST), { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(Readable.from(lines()), file);
  for (const key of unlisted) await rm(join(directory, FILES, key));
  return { ...total, sha256: hash.digest('hex') };
}
