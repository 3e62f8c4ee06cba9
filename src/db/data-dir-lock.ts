import { access, constants, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The data folder belongs to a server that is running; nothing in it was touched. */
export class DataDirInUseError extends Error {
  constructor(dataDir: string, holder: string) {
    super(
      `The data folder ${dataDir} is in use by another server${holder === '' ? '' : ` (process ${holder})`}. Stop that one, or give this one a DATA_DIR of its own.`,
    );
    this.name = 'DataDirInUseError';
  }
}

export type DataDirLock = { release(): Promise<void> };

// Two starters that arrive together can meet half-way inside the lock protocol; within this time one of them gets through.
const CONTENTION_MS = 250;
const SQLITE_BUSY = 5;

// A connection that is garbage collected is closed and its lock lost, so the held ones are kept alive from here.
const held = new Set<DatabaseSync>();

/**
 * Takes the data folder for this process, creating the folder when it is missing.
 *
 * The lock is the kernel's: an exclusive transaction on an empty SQLite file, which is the one way to an `fcntl` lock that
 * Node has built in. So it is free again the moment its holder ends, however it ends, with no stale state to judge; it also
 * holds between containers that share the folder on one machine, and is not passed on to child processes. The file `lock`
 * stays in the folder when it is free (removing it would let two servers lock two different files), and `lock-holder`
 * carries the process id for the message. Nothing in the holder's process may open `lock`: closing it would free the lock.
 *
 * @throws DataDirInUseError when another process, or this one, holds it
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true });
  const lockFile = join(dataDir, 'lock');
  const holderFile = join(dataDir, 'lock-holder');
  const file = new DatabaseSync(lockFile, { timeout: CONTENTION_MS });
  try {
    // A file that cannot be written would be opened for reading, and its lock shared.
    await access(lockFile, constants.W_OK);
    // In memory, so that no journal file appears beside the lock.
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    await writeFile(holderFile, `${process.pid}\n`);
  } catch (error) {
    file.close();
    if (!isBusy(error)) throw error;
    throw new DataDirInUseError(dataDir, await readHolder(holderFile));
  }
  held.add(file);
  return {
    release: async () => {
      if (!held.delete(file)) return;
      await rm(holderFile, { force: true });
      file.close();
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
