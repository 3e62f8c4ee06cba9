import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, chown, lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../core/log.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError, hasCode } from './errors.ts';
import { type Account, accountOfOwner, canEnter, chooseAccount, runTool } from './run-as.ts';

export const superuser = 'postgres';
export const databaseName = 'lynxroom';

/** Where a database lives, and under which account. `isNew` until `createCluster` has finished once. */
export type ClusterPlace = { folder: string; clusterDir: string; account: Account; isNew: boolean };

const stagedPrefix = 'new-cluster-';

/**
 * Finds the place of a data folder's database, or prepares one.
 *
 * It is `<dataDir>/postgres`, with `cluster/` (PostgreSQL's own folder) and `password` in it. When root starts the server
 * and the account of PostgreSQL cannot enter the data folder (it lies below root's home, say), `<dataDir>/postgres` is a
 * file that names a folder in `stateDir` instead: below /var/lib, as the temporary folder is emptied at a reboot. Every
 * data folder gets a new name there, so one that was deleted and made again starts empty, and the old database stays
 * where it was until somebody removes it.
 *
 * The choice is made once: an existing cluster keeps its place and runs under the account that owns it.
 * The caller holds the data folder's lock.
 */
export async function findPlace(dataDir: string, stateDir: string): Promise<ClusterPlace> {
  const entry = join(await realpath(dataDir), 'postgres');
  const folder = (await readPlace(entry)) ?? (await preparePlace(entry, dataDir, stateDir));
  const clusterDir = join(folder, 'cluster');
  const owner = await statIfThere(clusterDir);
  const account = owner === undefined ? chooseAccount() : accountOfOwner(clusterDir, owner);
  if (account.kind === 'user' && !canEnter(folder, account)) {
    throw new EmbeddedPostgresError(
      `User id ${account.uid}, which runs PostgreSQL, cannot enter ${folder}: open the folders above it, or choose another DATA_DIR`,
    );
  }
  return { folder, clusterDir, account, isNew: owner === undefined };
}

async function readPlace(entry: string): Promise<string | undefined> {
  try {
    if ((await lstat(entry)).isDirectory()) return entry;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const folder = (await readFile(entry, 'utf8')).trim();
  if (folder !== '' && (await statIfThere(folder)) !== undefined) return folder;
  throw new EmbeddedPostgresError(
    `The database that ${entry} points to is gone (${folder}): restore that folder, or remove ${entry} to start with an empty database`,
  );
}

async function statIfThere(path: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function preparePlace(entry: string, dataDir: string, stateDir: string): Promise<string> {
  const account = chooseAccount();
  if (canEnter(dataDir, account)) {
    await makeFolder(entry, account);
    return entry;
  }
  const folder = join(stateDir, `data-${randomUUID()}`);
  await mkdir(stateDir, { recursive: true });
  await chmod(stateDir, 0o755);
  await makeFolder(folder, account);
  await writeDurably(entry, `${folder}\n`);
  return folder;
}

/** Another account only passes through; it cannot list the folder or read the password in it. */
async function makeFolder(folder: string, account: Account): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, account.kind === 'user' ? 0o711 : 0o700);
}

/** Writes a file only we can read; it has its whole content or is not there, also after a power cut. */
async function writeDurably(path: string, content: string): Promise<void> {
  const staged = `${path}.${randomUUID()}`;
  const file = await open(staged, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(staged, path);
}

/**
 * Makes the cluster with its database when the place has none yet. All of it happens in a temporary folder that is renamed
 * at the end, so a cluster that exists is complete and on disk; what a killed start left behind is removed first.
 * @returns the superuser's password
 */
export async function ensureCluster(place: ClusterPlace, binaries: Binaries, log: Log): Promise<string> {
  const passwordFile = join(place.folder, 'password');
  if (!place.isNew) return readPassword(passwordFile);
  await removeLeftovers(place.folder);
  const password = randomBytes(24).toString('hex');
  await writeDurably(passwordFile, `${password}\n`);
  log.info({ folder: place.clusterDir }, 'Creating the embedded database');
  const staged = join(place.folder, `${stagedPrefix}${randomUUID()}`);
  try {
    await createCluster(staged, password, place.account, binaries);
    await rename(staged, place.clusterDir);
    await syncFolder(place.folder);
  } finally {
    await removeLeftovers(place.folder);
  }
  return password;
}

async function readPassword(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new EmbeddedPostgresError(`The database's password cannot be read from ${file}: restore that file`, {
      cause,
    });
  }
}

/** Best effort: an initdb that outlived its server may still be writing there, and its folder is removed another time. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(stagedPrefix)) continue;
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function createCluster(folder: string, password: string, account: Account, { initdb, postgres }: Binaries) {
  const failure = 'The embedded database could not be created';
  const options = { account, failure };
  const passwordFile = `${folder}.password`;
  await mkdir(folder, { mode: 0o700 });
  await writeDurably(passwordFile, `${password}\n`);
  if (account.kind === 'user') {
    await chown(folder, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  try {
    const identity = [`--username=${superuser}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    const encoding = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
    await runTool(initdb, ['-D', folder, ...identity, ...encoding, '--no-sync', '--no-instructions'], options);
  } finally {
    await rm(passwordFile, { force: true });
  }
  const input = `CREATE DATABASE ${databaseName}\n`;
  // Nothing is synced on the way: the last step syncs it all, before the rename that makes it count.
  const single = ['--single', '-c', 'exit_on_error=on', '-c', 'fsync=off', '-D', folder, 'postgres'];
  await runTool(postgres, single, { ...options, input });
  await runTool(initdb, ['--sync-only', '-D', folder], options);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}
