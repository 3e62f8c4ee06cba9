/** Writes a backup of the database and of the files on disk, while the service runs. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { hasErrorCode, ifExists, syncDirectory } from '../core/files.ts';
import type { Log } from '../core/log.ts';
import { type Connection, connect } from '../db/connect.ts';
import { readMigrationState } from '../db/migrate.ts';
import { addMissingFiles, createFileCopies, type FileCopies, writeFileList } from './file-copies.ts';
import {
  BackupError,
  type Content,
  createManifest,
  MANIFEST,
  type Manifest,
  type Table,
  tablePath,
  toText,
} from './manifest.ts';
import { beginSnapshot, dumpTable, listTables, readSequences, SESSION } from './snapshot.ts';

export type BackupOptions = {
  /** Must not connect to a pooler in transaction mode. */
  connectionString: string;
  /** The directory of the disk store, such as `.data/files`; null if the files are in S3. */
  filesRoot: string | null;
  /** The directory to create, or an empty one, such as a mount point. */
  to: string;
  log: Log;
  signal: AbortSignal;
  /** Called with a readable line before each step. The step begins when the returned promise resolves. */
  onStep: (step: string) => void | Promise<void>;
};

/** The maximum number of snapshots. Another one is taken if a file was deleted just before it could be copied. */
const MAX_SNAPSHOTS = 20;

/**
 * Writes a backup. It has everything that was committed before it began: the rows of one snapshot, and every file that
 * these rows refer to. The service may keep running: the backup does not block changes to rows or files.
 *
 * Files never change, but may be deleted. Most are therefore copied before the snapshot is taken; those that were added
 * in the meantime are copied after it. If one of the latter has already been deleted, another snapshot is taken.
 *
 * A new directory gets its name only when it is complete. If the directory exists, the manifest is written last.
 *
 * @throws BackupError if the directory is not empty, or the database does not belong to this service
 */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const { log, signal, onStep } = options;
  // A symlink to an empty directory stays a symlink.
  const existing = await ifExists(realpath(options.to));
  const to = existing ?? resolve(options.to);
  if (existing !== undefined && (await listContent(to)).length > 0) throw notEmpty(to);
  const name = `.partial-${randomUUID()}`;
  // A directory that exists may be a mount point: it is on a disk of its own, and cannot be replaced.
  const staged = existing === undefined ? `${to}${name}` : join(to, name);
  const client = await connect(options.connectionString, 'backup', log);
  try {
    await client.query(SESSION);
    const { applied } = await readMigrationState(client);
    if (applied.length === 0) throw new BackupError('The database is empty: there is nothing to back up');
    await mkdir(join(staged, 'tables'), { recursive: true, mode: 0o700 });
    const copies = options.filesRoot === null ? null : createFileCopies(options.filesRoot, staged);
    const content = await readContent(client, { ...options, staged, copies });
    const manifest = createManifest({ ...content, migrations: applied });
    await writeFile(join(staged, MANIFEST), toText(manifest), { mode: 0o600, flush: true });
    signal.throwIfAborted();
    await onStep('Finishing');
    await syncDirectory(staged);
    if (existing === undefined) await publish(staged, to);
    else await publishInside(staged, to);
    return manifest;
  } finally {
    await client.end().catch(() => undefined);
    await rm(staged, { recursive: true, force: true });
  }
}

/**
 * Renames a directory. Throws if `to` exists and is not empty, so that it does not replace files that others have
 * written there in the meantime.
 */
async function publish(staged: string, to: string): Promise<void> {
  try {
    await rename(staged, to);
  } catch (error) {
    throw hasErrorCode(error, 'ENOTEMPTY', 'EEXIST') ? notEmpty(to) : error;
  }
  await syncDirectory(dirname(to));
}

/** Moves everything into the parent directory, the manifest last: without it, there is no backup. */
async function publishInside(staged: string, to: string): Promise<void> {
  if ((await listContent(to)).some((name) => name !== basename(staged))) throw notEmpty(to);
  await chmod(to, 0o700);
  const names = (await readdir(staged)).filter((name) => name !== MANIFEST);
  const moved: string[] = [];
  try {
    for (const name of names) {
      moved.push(name);
      await rename(join(staged, name), join(to, name));
    }
    await syncDirectory(to);
    await rename(join(staged, MANIFEST), join(to, MANIFEST));
  } catch (error) {
    for (const name of moved) await rm(join(to, name), { recursive: true, force: true });
    throw error;
  }
  await syncDirectory(to);
}

/** Lists a directory without `lost+found`, which a new file system has in its root. */
async function listContent(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name !== 'lost+found');
}

function notEmpty(directory: string): BackupError {
  return new BackupError(`${directory} exists and is not empty`);
}

type Staging = BackupOptions & { staged: string; copies: FileCopies | null };

async function readContent(client: Connection, options: Staging): Promise<Omit<Content, 'migrations'>> {
  const { copies, staged, signal, onStep } = options;
  if (copies !== null) {
    await onStep('Copying files');
    await addMissingFiles(client, copies, signal);
  }
  const listed = await listTables(client);
  const { at, missing } = await takeSnapshot(client, options, listed);
  const tables: Table[] = [];
  for (const table of listed) {
    await onStep(`Reading ${table.name}`);
    tables.push(await dumpTable(client, table, tablePath(staged, table.name), signal));
  }
  const sequences = await readSequences(client);
  const store = await client.query<{ store: string }>('SELECT store FROM object_store_id');
  const files = copies === null ? null : await writeFileList(client, copies, missing);
  await client.query('COMMIT');
  return {
    created_at: at.toISOString(),
    tables,
    sequences,
    store: store.rows[0]?.store ?? null,
    files,
    missing_files: missing,
  };
}

/** Takes a snapshot whose files are all in the backup. `missing` are those that the store has lost. */
async function takeSnapshot(
  client: Connection,
  { copies, connectionString, log, signal, onStep }: Staging,
  listed: Awaited<ReturnType<typeof listTables>>,
): Promise<{ at: Date; missing: string[] }> {
  for (let count = 1; ; count += 1) {
    await onStep('Taking a snapshot');
    const at = await beginSnapshot(client, listed);
    if (copies !== null) await onStep('Copying new files');
    const missing = copies === null ? [] : await addMissingFiles(client, copies, signal);
    // If the row of a missing file still exists, the file is lost. If not, both were deleted after the snapshot.
    const lost = missing.length === 0 ? [] : await findReferenced(connectionString, log, missing);
    if (lost.length === missing.length) return { at, missing };
    if (count === MAX_SNAPSHOTS)
      throw new BackupError('Files are deleted faster than they can be copied: try again later');
    await client.query('ROLLBACK');
  }
}

async function findReferenced(connectionString: string, log: Log, keys: readonly string[]): Promise<string[]> {
  const client = await connect(connectionString, 'backup', log);
  try {
    const { rows } = await client.query<{ key: string }>('SELECT key FROM stored_objects WHERE key = ANY($1)', [keys]);
    return rows.map(({ key }) => key);
  } finally {
    await client.end().catch(() => undefined);
  }
}
