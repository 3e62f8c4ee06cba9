import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { databaseName, findPlace, superuser } from './cluster.ts';
import { readPidFile } from './orphan.ts';

const PORT_LINE = 3;

/** The connection string of the PostgreSQL that a server runs on this data folder at the moment; null where none does. */
export async function findRunningPostgres(dataDir: string, stateDir = '/var/lib/lynxroom'): Promise<string | null> {
  const { folder, clusterDir, isNew } = await findPlace(resolve(dataDir), stateDir);
  if (isNew || !(await readPidFile(clusterDir))?.isReady) return null;
  const port = (await readFile(join(clusterDir, 'postmaster.pid'), 'utf8')).split('\n')[PORT_LINE]?.trim();
  const password = (await readFile(join(folder, 'password'), 'utf8')).trim();
  return `postgresql://${superuser}:${password}@127.0.0.1:${port}/${databaseName}`;
}
