/** Runs a PostgreSQL server in a data directory. See the README. */
import { join, resolve } from 'node:path';
import { findBinaries } from './binaries.ts';
import { connectionString, ensureCluster } from './cluster.ts';
import { DataDirInUseError, lockDataDir } from './data-dir-lock.ts';
import { EmbeddedPostgresError, IncompatibleClusterError, messageOf } from './errors.ts';
import { locateCluster } from './location.ts';
import type { Log } from './log.ts';
import type { Settings } from './postmaster.ts';
import { openServerLog } from './server-log.ts';
import { supervisePostgres } from './supervisor.ts';

export { CTYPE } from './cluster.ts';
export { findRunningPostgres } from './running.ts';
export { DataDirInUseError, EmbeddedPostgresError, IncompatibleClusterError };

export type EmbeddedPostgresOptions = {
  /** Holds the database, its password and PostgreSQL's log. It is created if it is missing. */
  dataDir: string;
  /** The database to create on the first start. */
  database: string;
  /**
   * Where to store the database and PostgreSQL's programs if PostgreSQL's account cannot reach them elsewhere. Used
   * only if root starts the server.
   */
  stateDir: string;
  /** PostgreSQL settings that override the defaults, such as `max_connections`. */
  settings?: Settings;
  log: Log;
};

export type EmbeddedPostgres = {
  /** The superuser's connection string for the database. It stays the same until `stop`. */
  url: string;
  /** Stops PostgreSQL, then unlocks the data directory. Never rejects; a repeated call returns the same promise. */
  stop(): Promise<void>;
};

/**
 * Locks a data directory and starts PostgreSQL 18 in it, creating the database on the first start. PostgreSQL listens
 * on 127.0.0.1 only, on a free port, with a random password. A start recovers from a crash. If PostgreSQL ends
 * unexpectedly, it is restarted on the same port.
 *
 * @throws DataDirInUseError if another server uses the directory
 * @throws IncompatibleClusterError if another major version of PostgreSQL created the database
 * @throws EmbeddedPostgresError for any other failure
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cleanup = new AsyncDisposableStack();
  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= cleanup.disposeAsync().catch((error: unknown) => {
      options.log.error({ reason: messageOf(error) }, 'Failed to stop the embedded PostgreSQL cleanly');
    });
    return stopped;
  }
  try {
    return { url: await start(options, cleanup), stop };
  } catch (cause) {
    await stop();
    if (cause instanceof DataDirInUseError || cause instanceof EmbeddedPostgresError) throw cause;
    throw new EmbeddedPostgresError('Failed to start the embedded PostgreSQL', { detail: messageOf(cause), cause });
  }
}

async function start(options: EmbeddedPostgresOptions, cleanup: AsyncDisposableStack): Promise<string> {
  const { database, stateDir, settings = {}, log } = options;
  const dataDir = resolve(options.dataDir);
  cleanup.defer((await lockDataDir(dataDir)).release);
  const location = await locateCluster(dataDir, stateDir);
  // The cluster is locked too: a copy of a data directory can point to the same cluster, but has its own lock.
  cleanup.defer((await lockDataDir(location.directory)).release);
  const binaries = await findBinaries(location.account, stateDir);
  const password = await ensureCluster({ location, binaries, database, log });
  const serverLog = await openServerLog(join(dataDir, 'postgres.log'));
  cleanup.defer(serverLog.close);
  const { clusterDir, account } = location;
  const postgres = await supervisePostgres({
    program: binaries.postgres,
    clusterDir,
    account,
    settings: { cluster_name: database, ...settings },
    serverLog,
    log,
  });
  cleanup.defer(postgres.stop);
  return connectionString(password, postgres.port, database);
}
