/** Where the cluster of a data directory is stored, and under which account it runs. */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, accountOfOwner, canEnter, chooseAccount } from './account.ts';
import { EmbeddedPostgresError, hasCode } from './errors.ts';
import { findOwner, writeFileAtomically } from './files.ts';

/**
 * `directory` contains `clusterDir`, which holds the cluster, and the file `password`. `isNew` is true until the
 * cluster exists.
 */
export type Location = { directory: string; clusterDir: string; account: Account; isNew: boolean };

/**
 * Finds the location of a data directory's cluster, or creates one. The caller holds the data directory's lock.
 *
 * The location is `<dataDir>/postgres`. If root starts the server and PostgreSQL's account cannot enter the data
 * directory (it is below root's home, for example), then `<dataDir>/postgres` is a file with the path of a directory in
 * `stateDir`. Each new data directory gets a new directory there. If a data directory is deleted and created again, it
 * starts with an empty database, and the old database remains until somebody removes it. An existing cluster keeps its
 * location and its owner.
 *
 * @throws EmbeddedPostgresError if the location is missing, or PostgreSQL's account cannot enter it
 */
export async function locateCluster(dataDir: string, stateDir: string): Promise<Location> {
  const directory = (await findDirectory(dataDir)) ?? (await createDirectory(dataDir, stateDir));
  const clusterDir = join(directory, 'cluster');
  const owner = await findOwner(clusterDir);
  const account = owner === undefined ? chooseAccount() : accountOfOwner(clusterDir, owner);
  if (account.kind === 'user' && !canEnter(directory, account)) {
    throw new EmbeddedPostgresError(
      `User id ${account.uid}, which runs PostgreSQL, cannot enter ${directory}: ` +
        'give it access, or use another data directory',
    );
  }
  return { directory, clusterDir, account, isNew: owner === undefined };
}

/**
 * Returns the directory of an existing location, or undefined.
 *
 * @throws EmbeddedPostgresError if the data directory points to a directory that is missing
 */
export async function findDirectory(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, 'postgres');
  try {
    if ((await lstat(path)).isDirectory()) return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const directory = (await readFile(path, 'utf8')).trim();
  if (directory !== '' && (await findOwner(directory)) !== undefined) return directory;
  throw new EmbeddedPostgresError(
    `The database directory that ${path} points to is missing (${directory}): ` +
      `restore it, or remove ${path} to start with an empty database`,
  );
}

async function createDirectory(dataDir: string, stateDir: string): Promise<string> {
  const path = join(await realpath(dataDir), 'postgres');
  const account = chooseAccount();
  if (canEnter(dataDir, account)) {
    await makeDirectory(path, account);
    return path;
  }
  const directory = join(stateDir, `data-${randomUUID()}`);
  await mkdir(stateDir, { recursive: true });
  await chmod(stateDir, 0o755);
  await makeDirectory(directory, account);
  await writeFileAtomically(path, `${directory}\n`);
  return directory;
}

/** Other accounts may only pass through: they can neither list the directory nor read the password in it. */
async function makeDirectory(path: string, account: Account): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, account.kind === 'user' ? 0o711 : 0o700);
}
