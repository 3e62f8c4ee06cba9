import type { Log } from '../core/log.ts';
import { checkRequestPool, checkServer, type DatabaseUrl, refuseTransactionPooler } from '../db/check-database.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { UnsuitableDatabaseError } from '../db/connect.ts';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { isUnavailable } from '../db/errors.ts';
import { applyMigrations } from '../db/migrate.ts';
import type { Config } from './config.ts';
import type { StopInTime } from './lifecycle.ts';

/**
 * Checks and migrates the database, and opens the pool that serves requests. Without DATABASE_URL it starts the
 * embedded PostgreSQL. Registers functions on `cleanup` that close what it opened.
 *
 * @throws UnsuitableDatabaseError, MigrationError, or an error of the embedded PostgreSQL
 */
export async function openMigratedDatabase(
  config: Config,
  log: Log,
  cleanup: AsyncDisposableStack,
  stopInTime: StopInTime,
): Promise<{ db: Database; directUrl: string }> {
  const url = config.DATABASE_URL ?? (await startEmbedded(config, log, cleanup));
  const pooled: DatabaseUrl = { setting: 'DATABASE_URL', url };
  const direct: DatabaseUrl = config.DATABASE_DIRECT_URL
    ? { setting: 'DATABASE_DIRECT_URL', url: config.DATABASE_DIRECT_URL }
    : pooled;
  await checkServer(direct, log);
  if (direct !== pooled && config.DATABASE_POOLING === 'session') await refuseTransactionPooler(pooled, log);
  await applyMigrations({ connectionString: direct.url, log });
  const db = openPool(config, url, log, (close) => cleanup.defer(stopInTime('database', close)));
  // This check is needed only with a separate direct URL or a transaction pooler. In all other cases, connections go to
  // the database that was just checked, and each applies its own settings.
  if (direct !== pooled || config.DATABASE_POOLING === 'transaction')
    await checkRequestPool(db, direct, log).catch((error: unknown) => {
      throw isUnavailable(error)
        ? new UnsuitableDatabaseError(`The database at ${pooled.setting} does not respond`, { cause: error })
        : error;
    });
  return { db, directUrl: direct.url };
}

async function startEmbedded(config: Config, log: Log, cleanup: AsyncDisposableStack): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, log });
  cleanup.defer(postgres.stop);
  return postgres.url;
}

function openPool(
  config: Config,
  connectionString: string,
  log: Log,
  onStop: (close: () => Promise<void>) => void,
): Database {
  let isClosing = false;
  const db = openDatabase({
    connectionString,
    poolSize: config.DATABASE_POOL_SIZE,
    pooling: config.DATABASE_POOLING,
    onError: ({ message }) => {
      // `pool.end()` resolves before all connections are closed. Stopping the embedded PostgreSQL then breaks the open
      // ones, as expected.
      if (isClosing) return;
      // Only the message: the error object holds the connection, with its password.
      log.error({ reason: message }, 'A database connection was lost');
    },
  });
  onStop(() => {
    isClosing = true;
    return db.$disconnect();
  });
  return db;
}
