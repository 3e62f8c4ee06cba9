import { join, resolve } from 'node:path';
import { connectionString, readPassword } from './cluster.ts';
import { findDirectory } from './location.ts';
import { readPidFile } from './pid-file.ts';

/**
 * Returns the connection string of the PostgreSQL server that another process runs in a data directory, or null if none
 * runs. It only reads files.
 */
export async function findRunningPostgres(options: { dataDir: string; database: string }): Promise<string | null> {
  const directory = await findDirectory(resolve(options.dataDir));
  if (directory === undefined) return null;
  const pidFile = await readPidFile(join(directory, 'cluster'));
  if (!pidFile?.isReady) return null;
  return connectionString(await readPassword(directory), pidFile.port, options.database);
}
