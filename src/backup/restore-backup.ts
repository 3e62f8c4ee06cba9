/** Restores a backup to an empty database and an empty directory of files. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { from as copyFrom } from 'pg-copy-streams';
import type { Log } from '../core/log.ts';
import { type Connection, connect, describeError } from '../db/connect.ts';
import { applyMigrations, LOCK_KEY } from '../db/migrate.ts';
import { onlyRow } from '../db/only-row.ts';
import { BackupError, type Manifest, type Table, tablePath } from './manifest.ts';
import type { RestoreOptions } from './restore-options.ts';
import { prepareTarget } from './restore-target.ts';
import { type RestoredFiles, restoreFiles } from './restored-files.ts';
import { listTables, SESSION } from './snapshot.ts';
import { orderByReferences } from './table-order.ts';

const STATUS_RETRY_MS = 500;
const MAX_STATUS_TRIES = 120;

/** The connection was lost during COMMIT, and PostgreSQL cannot be asked for the outcome. */
class UnknownOutcomeError extends BackupError {
  constructor(cause: unknown) {
    super(
      'The connection was lost at the end, and the database may or may not have the rows: restore again with ' +
        '--replace. The old files are beside the directory of files, with .replaced- in their name',
      { cause },
    );
  }
}

/**
 * Restores a backup that `checkBackup` has checked. The tables are created by this version's own migrations, up to the
 * last migration that the backup contains. The next start of the service applies later migrations. The rows and the
 * files appear together: if anything fails, the database has no rows, and the old files are still in place.
 *
 * Jobs are not part of a backup. After a restore, the service queues the waiting webhook messages again, and repeats
 * work that was in progress.
 *
 * @throws BackupError if the database is in use, if the database or the directory is not empty and `replace` is false,
 *   or if a file of the backup has changed since it was checked
 */
export async function restoreBackup(options: RestoreOptions, manifest: Manifest): Promise<void> {
  const { connectionString, filesRoot, log, signal, onStep } = options;
  if (manifest.files !== null && filesRoot === null) {
    throw new BackupError(
      'The backup has the files of a disk store, and S3_BUCKET is set: unset it for the restore, then move the files',
    );
  }
  await prepareTarget(options, manifest);
  await onStep('Creating the tables');
  const upTo = manifest.migrations.at(-1)?.name ?? '';
  await applyMigrations({ connectionString, upTo, log });
  const files: RestoredFiles | null =
    filesRoot === null || manifest.files === null ? null : await restoreFiles({ ...options, filesRoot }, manifest);
  const client = await connect(connectionString, 'restore', log);
  try {
    await client.query(`${SESSION}; BEGIN`);
    // A server that starts now waits for this lock before it applies migrations.
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK_KEY]);
    await loadRows(client, options, manifest);
    const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
    signal.throwIfAborted();
    await files?.publish();
    await commit(client, onlyRow(rows).id, connectionString, log);
  } catch (error) {
    // If the outcome is unknown, the old and the new files both stay: either may belong to the rows.
    if (!(error instanceof UnknownOutcomeError)) await files?.discard();
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
  // The backup is already restored, so a failure must not remove its files.
  await files?.removeOld().catch((error: unknown) => {
    log.warn({ reason: describeError(error) }, 'The backup is restored, but the old files could not be removed');
  });
  await onStep('Collecting statistics');
  await analyze(connectionString, log);
}

async function loadRows(client: Connection, { from, onStep, signal }: RestoreOptions, manifest: Manifest) {
  const tables = await matchTables(client, manifest);
  // The rows already include the changes that triggers made, so triggers must not run again. Foreign keys are checked.
  for (const { name } of tables) await client.query(`ALTER TABLE "${name}" DISABLE TRIGGER USER`);
  for (const table of await orderByReferences(client, tables)) {
    await onStep(`Writing ${table.name}`);
    await loadTable(client, table, from, signal);
  }
  await client.query('SET CONSTRAINTS ALL IMMEDIATE');
  for (const { name } of tables) await client.query(`ALTER TABLE "${name}" ENABLE TRIGGER USER`);
  for (const { name, last_value: last, is_called: isCalled } of manifest.sequences)
    await client.query('SELECT setval(quote_ident($1)::regclass, $2::bigint, $3)', [name, last, isCalled]);
  // The backup contains no jobs. The relay queues a new job for each message whose `job_id` is null.
  await client.query("UPDATE webhook_messages SET job_id = NULL WHERE status = 'waiting' AND job_id IS NOT NULL");
}

/** Returns the tables of the backup. Throws BackupError if they are not exactly those of the migrations. */
async function matchTables(client: Connection, manifest: Manifest): Promise<readonly Table[]> {
  const describe = (tables: readonly { name: string; columns: readonly string[] }[]): string =>
    tables.map(({ name, columns }) => `${name}(${[...columns].sort().join()})`).join();
  const found = await listTables(client);
  const byName = [...manifest.tables].sort((a, b) => (a.name < b.name ? -1 : 1));
  const expected = [...found].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (describe(expected) !== describe(byName))
    throw new BackupError('The tables of the backup are not those of this version');
  return manifest.tables;
}

async function loadTable(client: Connection, { name, columns, rows }: Table, from: string, signal: AbortSignal) {
  const list = columns.map((column) => `"${column}"`).join(', ');
  const target = client.query(copyFrom(`COPY "${name}" (${list}) FROM STDIN`));
  try {
    await pipeline(createReadStream(tablePath(from, name)), createGunzip(), target, { signal });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new BackupError(`The rows of ${name} could not be written: ${describeError(cause)}`, { cause });
  }
  if (target.rowCount !== rows) throw new BackupError(`${name} has ${target.rowCount} rows, but should have ${rows}`);
}

/**
 * Commits the transaction `id`. If the connection is lost, asks PostgreSQL for the outcome.
 *
 * @throws UnknownOutcomeError if PostgreSQL does not respond
 */
async function commit(client: Connection, id: string, connectionString: string, log: Log): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    const status = await readStatus(id, connectionString, log).catch((cause: unknown) => {
      throw new UnknownOutcomeError(cause);
    });
    if (status !== 'committed') throw error;
  }
}

/** Returns `committed` or `aborted`. Waits while PostgreSQL has not noticed that the connection is lost. */
async function readStatus(id: string, connectionString: string, log: Log): Promise<string> {
  for (let tries = 1; tries <= MAX_STATUS_TRIES; tries += 1) {
    await setTimeout(STATUS_RETRY_MS);
    const status = await readStatusOnce(id, connectionString, log).catch(() => null);
    if (status !== null && status !== 'in progress') return status;
  }
  throw new Error('PostgreSQL did not respond in time');
}

async function readStatusOnce(id: string, connectionString: string, log: Log): Promise<string | null> {
  const client = await connect(connectionString, 'restore', log);
  try {
    const { rows } = await client.query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [id]);
    return onlyRow(rows).status;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Without statistics, the first queries would be slow. */
async function analyze(connectionString: string, log: Log): Promise<void> {
  const client = await connect(connectionString, 'restore', log);
  await client.query('SET statement_timeout = 0; ANALYZE').finally(() => client.end().catch(() => undefined));
}
