/** Checks that a backup is complete and unchanged, and that this version can restore it. */
import { join } from 'node:path';
import { requireKnownMigrations } from '../db/migrate.ts';
import {
  BackupError,
  FILE_LIST,
  FILES,
  hashFile,
  type Manifest,
  readFileList,
  readManifest,
  tablePath,
} from './manifest.ts';

type Expected = { bytes?: number; size?: number; sha256: string };

/**
 * Reads every file of the backup and compares its size and hash with the manifest.
 *
 * @throws BackupError that names the first file that is missing or was changed
 * @throws MigrationError if the backup is from a newer version
 */
export async function checkBackup(directory: string, signal: AbortSignal): Promise<Manifest> {
  const manifest = await readManifest(directory);
  await requireKnownMigrations(manifest.migrations);
  for (const table of manifest.tables) {
    signal.throwIfAborted();
    await checkFile(tablePath(directory, table.name), table);
  }
  if (manifest.files === null) return manifest;
  await checkFile(join(directory, FILE_LIST), { sha256: manifest.files.sha256 });
  let count = 0;
  for await (const file of readFileList(directory)) {
    signal.throwIfAborted();
    await checkFile(join(directory, FILES, file.key), file);
    count += 1;
  }
  if (count !== manifest.files.count) throw new BackupError(`${join(directory, FILE_LIST)} is damaged`);
  return manifest;
}

async function checkFile(path: string, { bytes, size = bytes, sha256 }: Expected): Promise<void> {
  const found = await hashFile(path);
  if (found === undefined) throw new BackupError(`The backup is not complete: ${path} is missing`);
  if (found.sha256 !== sha256 || (size !== undefined && found.size !== size))
    throw new BackupError(`The backup is damaged: ${path} was changed`);
}
