/** The settings and the database of the service, for a command of an operator. */
import { join } from 'node:path';
import { CliError, type Context } from '@lynxroom/cli';
import type { Log } from '../core/log.ts';
import { connect, UnsuitableDatabaseError } from '../db/connect.ts';
import { findRunningPostgres, startEmbeddedPostgres } from '../db/embedded.ts';
import { type Config, ConfigError, readConfig } from '../runtime/config.ts';

/** Reads the settings from the environment, as the service does. Throws a CliError that names every invalid one. */
export function readSettings({ env }: Pick<Context, 'env'>): Config {
  try {
    return readConfig(env);
  } catch (error) {
    throw error instanceof ConfigError ? new CliError(error.message, { cause: error }) : error;
  }
}

/** The directory of the disk store; null if the files are in S3. */
export function filesRootOf({ S3_BUCKET: bucket, DATA_DIR: dataDir }: Config): string | null {
  return bucket === undefined ? join(dataDir, 'files') : null;
}

/** Prints warnings and errors as readable lines. */
export function createLog({ note }: Pick<Context, 'note'>): Log {
  const write = (fields: object, message?: string): void => {
    const reason = 'reason' in fields ? `: ${String(fields.reason)}` : '';
    note(`${message ?? ''}${reason}`);
  };
  return { debug: () => {}, info: () => {}, warn: write, error: write };
}

/**
 * Runs `work` with a connection string that points to PostgreSQL itself, not to a pooler. Without
 * DATABASE_URL, this is the embedded PostgreSQL that a running server uses. If none runs, it is started for `work`.
 *
 * @throws DataDirInUseError, EmbeddedPostgresError
 */
export async function withDatabase<Result>(
  config: Config,
  log: Log,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const external = config.DATABASE_DIRECT_URL ?? config.DATABASE_URL;
  if (external !== undefined) return work(external);
  const running = await findRunning(config, log);
  if (running !== null) return work(running);
  return withOwnPostgres(config, log, work);
}

/** Runs `work` with the embedded PostgreSQL. No server may be using it at the same time. */
export async function withOwnPostgres<Result>(
  config: Config,
  log: Log,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const postgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, log });
  try {
    return await work(postgres.url);
  } finally {
    await postgres.stop();
  }
}

/** Returns the connection string of the embedded PostgreSQL of a running server, or null. */
export async function findRunning({ DATA_DIR: dataDir }: Config, log: Log): Promise<string | null> {
  const url = await findRunningPostgres(dataDir);
  if (url === null) return null;
  try {
    await (await connect(url, 'check', log)).end();
    return url;
  } catch (error) {
    // A killed server leaves its port file behind.
    if (error instanceof UnsuitableDatabaseError) return null;
    throw error;
  }
}
