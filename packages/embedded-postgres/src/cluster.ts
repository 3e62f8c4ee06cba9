/** Creates a cluster, which is PostgreSQL's name for a data directory with its databases. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, runTool } from './account.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError, IncompatibleClusterError } from './errors.ts';
import { syncDirectory, writeFileAtomically } from './files.ts';
import type { Location } from './location.ts';
import type { Log } from './log.ts';

const SUPERUSER = 'postgres';
const STAGED_PREFIX = 'new-cluster-';
/**
 * The LC_CTYPE of new clusters. With C, only the letters of ASCII are letters for extensions such as pg_trgm. Sorting
 * and lower case depend on the builtin locale alone.
 */
export const CTYPE = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8';

export type ClusterOptions = { location: Location; binaries: Binaries; database: string; log: Log };

/**
 * Creates the cluster and its database if the location has none, and returns the superuser's password. The cluster is
 * created under a temporary name and renamed at the end, so that an existing cluster is always complete and on disk.
 * Files that an interrupted start left behind are removed first.
 *
 * @throws IncompatibleClusterError if another major version of PostgreSQL created the cluster
 * @throws EmbeddedPostgresError if the cluster cannot be created, or the password cannot be read
 */
export async function ensureCluster({ location, binaries, database, log }: ClusterOptions): Promise<string> {
  const { directory, clusterDir, account, isNew } = location;
  if (!isNew) {
    await refuseOtherVersion(clusterDir, binaries.majorVersion);
    return readPassword(directory);
  }
  await removeLeftovers(directory);
  const password = randomBytes(24).toString('hex');
  await writeFileAtomically(passwordFile(directory), `${password}\n`);
  log.info({ directory: clusterDir }, 'Creating the embedded database');
  const staged = join(directory, `${STAGED_PREFIX}${randomUUID()}`);
  try {
    await createCluster(staged, password, account, binaries, database);
    await rename(staged, clusterDir);
    await syncDirectory(directory);
  } finally {
    await removeLeftovers(directory);
  }
  return password;
}

async function refuseOtherVersion(clusterDir: string, majorVersion: string): Promise<void> {
  const created = (await readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
  if (created !== majorVersion) throw new IncompatibleClusterError(clusterDir, created, majorVersion);
}

/** @throws EmbeddedPostgresError if the password of an existing cluster cannot be read */
export async function readPassword(directory: string): Promise<string> {
  const path = passwordFile(directory);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new EmbeddedPostgresError(`Failed to read the database password in ${path}: restore the file`, { cause });
  }
}

function passwordFile(directory: string): string {
  return join(directory, 'password');
}

/** A directory that the initdb of a killed server is still writing to cannot be removed. A later start removes it. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(STAGED_PREFIX)) continue;
    await rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function createCluster(
  directory: string,
  password: string,
  account: Account,
  { initdb, postgres }: Binaries,
  database: string,
): Promise<void> {
  const options = { account, failure: 'Failed to create the embedded database' };
  const pwfile = `${directory}.password`;
  await mkdir(directory, { mode: 0o700 });
  await writeFileAtomically(pwfile, `${password}\n`);
  if (account.kind === 'user') {
    await chown(directory, account.uid, account.gid);
    await chown(pwfile, account.uid, account.gid);
  }
  try {
    const identity = [`--username=${SUPERUSER}`, `--pwfile=${pwfile}`, '--auth=scram-sha-256'];
    const encoding = [
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      `--lc-ctype=${CTYPE}`,
    ];
    await runTool(initdb, ['-D', directory, ...identity, ...encoding, '--no-sync', '--no-instructions'], options);
  } finally {
    await rm(pwfile, { force: true });
  }
  // These steps do not sync their files. The last step syncs everything, before the cluster is renamed.
  const singleUser = ['--single', '-c', 'exit_on_error=on', '-c', 'fsync=off', '-D', directory, 'postgres'];
  const identifier = `"${database.replaceAll('"', '""')}"`;
  await runTool(postgres, singleUser, { ...options, input: `CREATE DATABASE ${identifier}\n` });
  await runTool(initdb, ['--sync-only', '-D', directory], options);
}

/** Returns the superuser's connection string for a database. */
export function connectionString(password: string, port: number, database: string): string {
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}
