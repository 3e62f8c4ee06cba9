import { access, constants, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another running server uses the data directory. Nothing in it was changed. */
export class DataDirInUseError extends Error {
  constructor(dataDir: string, holder: string) {
    super(`The data directory ${dataDir} is in use by another server${holder === '' ? '' : ` (process ${holder})`}`);
    this.name = 'DataDirInUseError';
  }
}

export type DataDirLock = { release(): Promise<void> };

// Two processes that lock at the same moment can block each other inside SQLite. One of them succeeds within this time.
const CONTENTION_MS = 250;
const SQLITE_BUSY = 5;

// Keeps the connections from being garbage-collected, which would close them and release their locks.
const heldLocks = new Set<DatabaseSync>();

/**
 * Locks a data directory for this process, and creates the directory if it is missing.
 *
 * The lock is a kernel lock: an exclusive transaction on an empty SQLite file, because Node has no other built-in way
 * to take an `fcntl` lock. It is released when its process ends for any reason, it works across containers that share
 * the directory on one machine, and child processes do not inherit it. The file `lock` is never removed, because then
 * two servers could lock two different files. The file `lock-holder` contains the holder's process id, for the error
 * message. Nothing else in this process may open `lock`: closing it would release the lock.
 *
 * @throws DataDirInUseError if another process, or this one, holds the lock
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true });
  const lockFile = join(dataDir, 'lock');
  const holderFile = join(dataDir, 'lock-holder');
  const database = new DatabaseSync(lockFile, { timeout: CONTENTION_MS });
  try {
    // SQLite opens a read-only file without an error, and would then take only a shared lock.
    await access(lockFile, constants.W_OK);
    // The journal is in memory, so that no journal file appears beside the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    await writeFile(holderFile, `${process.pid}\n`);
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new DataDirInUseError(dataDir, await readHolder(holderFile));
  }
  heldLocks.add(database);
  return {
    async release() {
      if (!heldLocks.delete(database)) return;
      await rm(holderFile, { force: true });
      database.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

async function readHolder(holderFile: string): Promise<string> {
  try {
    return (await readFile(holderFile, 'utf8')).trim();
  } catch {
    return '';
  }
}
