/** Migrates the database. Files and records have the format of `prisma migrate deploy`. */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';
import type { Log } from '../core/log.ts';
import { connect, describeError } from './connect.ts';
import { positionOf } from './errors.ts';

/** The database cannot be migrated. The message is one line for the person who starts the server. */
export class MigrationError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

type Migration = { name: string; sql: string; checksum: string };

/** A migration by its name and the SHA-256 of its file. */
export type MigrationRecord = { name: string; checksum: string };

/** `pending` are the migrations that the next start applies. */
export type MigrationState = { applied: MigrationRecord[]; pending: MigrationRecord[] };

type AppliedRow = { migration_name: string; checksum: string; finished_at: Date | null };

const defaultDirectory = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** The advisory lock that Prisma's own engine takes, so that the two exclude each other. */
export const LOCK_KEY = 72_707_369;
const POLL_MS = 50;
const REPORT_EVERY_MS = 10_000;

/** Creates the table exactly as Prisma does. */
const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

const NO_TRANSACTION = /^-- lynxroom: no transaction\s*(\n|$)/;

/**
 * Applies the migrations that the database lacks, in the order of their names. Several servers may call it at the same
 * time: one applies the migrations and the others wait.
 *
 * Each migration runs in one transaction with its record, so it is applied completely or not at all. A migration whose
 * first line is `-- lynxroom: no transaction` holds one statement that cannot run in a transaction (CREATE INDEX
 * CONCURRENTLY). Its start is recorded first, so that an interrupted migration is detected.
 *
 * @param options.connectionString must not connect to a pooler in transaction mode, because the lock belongs to a
 * session
 * @param options.directory the migrations, one directory each; by default those of this repository
 * @param options.upTo the name of the last migration to apply; by default all
 * @throws UnsuitableDatabaseError if the database cannot be reached
 * @throws MigrationError if a migration fails, was edited after it was applied, is recorded as failed, or is in the
 *   database but not in the directory
 */
export async function applyMigrations(options: {
  connectionString: string;
  directory?: string;
  upTo?: string;
  log: Log;
}): Promise<void> {
  const { log, upTo } = options;
  const known = await readMigrations(options.directory ?? defaultDirectory);
  const migrations = upTo === undefined ? known : known.filter(({ name }) => name <= upTo);
  const client = await connect(options.connectionString, 'migrations', log);
  try {
    await takeLock(client, log);
    await client.query('SET statement_timeout = 0');
    const pending = findPending(migrations, await readApplied(client));
    for (const migration of pending) {
      const startedAt = performance.now();
      await apply(client, migration);
      log.info({ migration: migration.name, ms: Math.round(performance.now() - startedAt) }, 'Applied a migration');
    }
  } finally {
    // Ending the session releases the lock too, but a pooler does not end it.
    await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    await client.end().catch(() => undefined);
  }
}

/**
 * Finds out which migrations a database has and which it lacks. Changes nothing.
 *
 * @throws MigrationError as `applyMigrations` does, if a server would refuse to start
 */
export async function readMigrationState(client: Client): Promise<MigrationState> {
  const migrations = await readMigrations(defaultDirectory);
  const { rows } = await client.query<{ name: string | null }>(
    "SELECT to_regclass('public._prisma_migrations')::text AS name",
  );
  const applied = rows[0]?.name ? await selectApplied(client) : [];
  const pending = findPending(migrations, applied);
  return {
    applied: applied
      .map((row) => ({ name: row.migration_name, checksum: row.checksum }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    pending: pending.map(({ name, checksum }) => ({ name, checksum })),
  };
}

async function readMigrations(directory: string): Promise<Migration[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    return await Promise.all(names.sort().map((name) => readMigration(directory, name)));
  } catch (cause) {
    throw new MigrationError(`Failed to read the migrations: ${describeError(cause)}`, { cause });
  }
}

async function readMigration(directory: string, name: string): Promise<Migration> {
  const bytes = await readFile(join(directory, name, 'migration.sql'));
  return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') };
}

/**
 * Polls, because a session that waits in `pg_advisory_lock` would deadlock with the CREATE INDEX CONCURRENTLY of the
 * holder.
 */
async function takeLock(client: Client, log: Log): Promise<void> {
  let reportAt = performance.now() + REPORT_EVERY_MS;
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [LOCK_KEY]);
    if (rows[0]?.locked === true) return;
    if (performance.now() > reportAt) {
      log.info({}, 'Waiting for another server to apply the migrations');
      reportAt += REPORT_EVERY_MS;
    }
    await sleep(POLL_MS);
  }
}

/**
 * Checks that this version knows all of the given migrations, which were applied elsewhere, such as those of a backup.
 *
 * @throws MigrationError if one of them is not known, or differs
 */
export async function requireKnownMigrations(records: readonly MigrationRecord[]): Promise<void> {
  const rows = records.map(({ name, checksum }) => ({ migration_name: name, checksum, finished_at: new Date(0) }));
  findPending(await readMigrations(defaultDirectory), rows, 'backup');
}

/**
 * Throws MigrationError if an applied migration has failed or is unknown, or if its checksum differs from that of its
 * file.
 */
function findPending(
  migrations: readonly Migration[],
  applied: readonly AppliedRow[],
  holder: 'database' | 'backup' = 'database',
): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const row of applied) {
    const migration = known.get(row.migration_name);
    if (row.finished_at === null) {
      throw new MigrationError(
        `The migration ${row.migration_name} is recorded as failed: ` +
          'revert what it changed, then delete its row from _prisma_migrations to apply it again',
      );
    }
    if (migration === undefined) {
      throw new MigrationError(
        `The ${holder} has the migration ${row.migration_name}, which this version does not know: ` +
          'start a newer version',
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(
        `The migration ${row.migration_name} was edited after it was applied: ` +
          'restore its file and make the change in a new migration',
      );
    }
  }
  const appliedNames = new Set(applied.map((row) => row.migration_name));
  return migrations.filter(({ name }) => !appliedNames.has(name));
}

async function readApplied(client: Client): Promise<AppliedRow[]> {
  await client.query(CREATE_TABLE);
  return selectApplied(client);
}

async function selectApplied(client: Client): Promise<AppliedRow[]> {
  const { rows } = await client.query<AppliedRow>(
    `SELECT migration_name, checksum, finished_at FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return rows;
}

async function apply(client: Client, migration: Migration): Promise<void> {
  try {
    await (NO_TRANSACTION.test(migration.sql) ? applyWithoutTransaction : applyInTransaction)(client, migration);
  } catch (cause) {
    const line = findLine(cause, migration.sql);
    const place = line === undefined ? '' : ` at line ${line}`;
    throw new MigrationError(`The migration ${migration.name} failed${place}: ${describeError(cause)}`, { cause });
  }
}

async function applyWithoutTransaction(client: Client, migration: Migration): Promise<void> {
  const id = randomUUID();
  await client.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', [
    id,
    migration.checksum,
    migration.name,
  ]);
  try {
    await client.query(migration.sql);
  } catch (error) {
    await client
      .query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, describeError(error)])
      .catch(() => undefined);
    throw error;
  }
  await client.query(
    'UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1',
    [id],
  );
}

async function applyInTransaction(client: Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    // Without parameters, `pg` sends everything as one simple query, and PostgreSQL splits it into statements.
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function findLine(error: unknown, sql: string): number | undefined {
  const position = positionOf(error);
  // PostgreSQL counts characters, JavaScript UTF-16 code units.
  return position !== undefined ? [...sql].slice(0, position).join('').split('\n').length : undefined;
}
