import { join, resolve } from 'node:path';
import type { Log } from '../core/log.ts';
import { DataDirInUseError, lockDataDir } from './data-dir-lock.ts';
import { findBinaries } from './embedded/binaries.ts';
import { databaseName, ensureCluster, findPlace, superuser } from './embedded/cluster.ts';
import { EmbeddedPostgresError, messageOf } from './embedded/errors.ts';
import { openServerLog } from './embedded/server-log.ts';
import { supervisePostgres } from './embedded/supervise.ts';

export { DataDirInUseError, EmbeddedPostgresError };

export type EmbeddedPostgres = {
  /** A superuser's connection string for the database `lynxroom`; the same until `stop`. */
  url: string;
  /** Stops PostgreSQL, then frees the data folder. Call it last. Never rejects; a second call awaits the first. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  dataDir: string;
  log: Log;
  /** Where root keeps what PostgreSQL's account cannot reach otherwise; see `findPlace` and `findBinaries`. */
  stateDir?: string;
};

/** What has been taken so far, each with the step that gives it back. */
type Taken = (() => Promise<void> | void)[];

/**
 * Starts a PostgreSQL 18 of our own on a data folder, making the database the first time, and takes the folder's lock.
 * It listens on 127.0.0.1 alone, on a port that is free, with a random password. It survives whatever ended the last
 * start, and is started again on the same port when it ends by itself.
 *
 * @throws DataDirInUseError when another server runs on the folder, which is left alone
 * @throws EmbeddedPostgresError for everything else, in one line
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const taken: Taken = [];
  try {
    const url = await start(options, taken);
    let stopped: Promise<void> | undefined;
    return {
      url,
      stop: () => {
        stopped ??= giveBack(taken, options.log);
        return stopped;
      },
    };
  } catch (error) {
    await giveBack(taken, options.log);
    if (error instanceof DataDirInUseError || error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError('The embedded PostgreSQL could not be started', {
      detail: messageOf(error),
      cause: error,
    });
  }
}

async function start(options: EmbeddedPostgresOptions, taken: Taken): Promise<string> {
  const { log, stateDir = '/var/lib/lynxroom' } = options;
  const dataDir = resolve(options.dataDir);
  taken.push((await lockDataDir(dataDir)).release);
  const place = await findPlace(dataDir, stateDir);
  // A copy of a data folder can point to the same database as its original, which has another lock.
  taken.push((await lockDataDir(place.folder)).release);
  const binaries = await findBinaries(place.account, stateDir);
  const password = await ensureCluster(place, binaries, log);
  const serverLog = await openServerLog(join(dataDir, 'postgres.log'));
  taken.push(serverLog.close);
  const { clusterDir, account } = place;
  const postgres = await supervisePostgres({ program: binaries.postgres, clusterDir, account, serverLog, log });
  taken.push(postgres.stop);
  return `postgresql://${superuser}:${password}@127.0.0.1:${postgres.port}/${databaseName}`;
}

/** The last taken goes first; one that fails does not keep the others. */
async function giveBack(taken: Taken, log: Log): Promise<void> {
  for (const step of taken.splice(0).reverse()) {
    try {
      await step();
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'The embedded PostgreSQL was not stopped cleanly');
    }
  }
}
