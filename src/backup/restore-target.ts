/** The database and the directory that a backup is restored to. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists } from '../core/files.ts';
import { type Connection, connect } from '../db/connect.ts';
import { onlyRow } from '../db/only-row.ts';
import { BackupError, type Manifest } from './manifest.ts';
import type { RestoreOptions } from './restore-options.ts';

const MAX_NAMED = 5;

/**
 * Removes the tables of the service from the database, if `replace` is true or there are no accounts. The files stay.
 *
 * @throws BackupError if the target may not be replaced, is in use, or belongs to another program
 */
export async function prepareTarget(options: RestoreOptions, manifest: Manifest): Promise<void> {
  const { connectionString, filesRoot, log, replace } = options;
  const { files, migrations } = manifest;
  const client = await connect(connectionString, 'restore', log);
  try {
    await refuseOtherConnections(client);
    const tables = await countTables(client);
    const isOurs = tables.hasMigrations && (await hasOurMigrations(client, tables.all, migrations));
    if (tables.all > 0 && !isOurs) throw new BackupError('The database has tables of another program');
    if (!replace && isOurs && (await hasAccounts(client)))
      throw new BackupError('The database is not empty: use --replace to delete everything in it');
    const others = await listOtherTables(client, manifest);
    if (!replace && others.length > 0) {
      const names = others.slice(0, MAX_NAMED).join(', ');
      throw new BackupError(`The database has other tables (${names}): use --replace to delete everything in it`);
    }
    if (!replace && files !== null && filesRoot !== null && (await hasFiles(filesRoot)))
      throw new BackupError(`${filesRoot} is not empty: use --replace to delete the files in it`);
    if (tables.all > 0) await dropTables(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Throws BackupError if a server is connected: during the restore, it would serve incomplete data. An idle server
 * without background work may have no connection, and is then not detected. It cannot damage the data: the rows are
 * written in one transaction, which fails if others have written rows with the same IDs.
 *
 * If a server uses a different role, PostgreSQL may hide the type of its sessions from the role of the restore. Such
 * sessions are counted. Background processes are not counted: they have no user.
 */
async function refuseOtherConnections(client: Connection): Promise<void> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
       AND coalesce(backend_type, 'client backend') = 'client backend'`,
  );
  const { count } = onlyRow(rows);
  if (count > 0) throw new BackupError(`Other connections to the database: ${count}. Stop all servers and workers`);
}

async function countTables(client: Connection): Promise<{ all: number; hasMigrations: boolean }> {
  const { rows } = await client.query<{ all: number; hasMigrations: boolean }>(
    `SELECT count(*)::int AS all, coalesce(bool_or(relname = '_prisma_migrations'), false) AS "hasMigrations"
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
  );
  return onlyRow(rows);
}

/** The tables that a restore would delete although the backup does not contain them. */
async function listOtherTables(client: Connection, { tables }: Manifest): Promise<string[]> {
  const ours = ['_prisma_migrations', ...tables.map(({ name }) => name)];
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> ALL ($1) ORDER BY 1`,
    [ours],
  );
  return rows.map(({ name }) => name);
}

/**
 * Whether the migrations are ours: every program that uses Prisma has a table of migrations. If it is the only table
 * and empty, it was left by a restore that was killed.
 */
async function hasOurMigrations(client: Connection, tables: number, known: Manifest['migrations']): Promise<boolean> {
  const { rows } = await client.query<{ checksum: string }>('SELECT checksum FROM public._prisma_migrations');
  if (rows.length === 0) return tables === 1;
  const ours = new Set(known.map(({ checksum }) => checksum));
  return rows.some(({ checksum }) => ours.has(checksum));
}

/** Whether there are accounts. All other data belongs to accounts, so a database without them counts as empty. */
async function hasAccounts(client: Connection): Promise<boolean> {
  const { rows } = await client.query<{ found: string | null }>("SELECT to_regclass('public.users')::text AS found");
  if (!rows[0]?.found) return false;
  const users = await client.query('SELECT FROM users LIMIT 1');
  return users.rowCount !== 0;
}

async function hasFiles(filesRoot: string): Promise<boolean> {
  const names = (await ifExists(readdir(join(filesRoot, 'objects'), { recursive: true, withFileTypes: true }))) ?? [];
  return names.some((entry) => entry.isFile());
}

/** Drops the schemas with the tables and the job queue. The owner of a schema may do so without being a superuser. */
async function dropTables(client: Connection): Promise<void> {
  await client.query('BEGIN');
  await client.query('DROP SCHEMA IF EXISTS pgboss CASCADE');
  await client.query('DROP SCHEMA public CASCADE');
  await client.query('CREATE SCHEMA public');
  await client.query('COMMIT');
}
