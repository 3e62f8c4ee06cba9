/** The migration runner, each test on an empty database and a directory of migrations of its own. */
import { createHash, randomUUID } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { applyMigrations, MigrationError } from '../../src/db/migrate.ts';
import { quietLog } from '../support/quiet-log.ts';

let database: string;
let connectionString: string;
let directory: string;
let client: Client;

beforeEach(async () => {
  database = `migrate_${randomUUID().replaceAll('-', '')}`;
  await runAsAdmin(`CREATE DATABASE ${database} STRATEGY file_copy`);
  connectionString = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${database}` }).href;
  directory = await mkdtemp(join(tmpdir(), 'lynxroom-migrations-'));
  client = new Client({ connectionString });
  await client.connect();
});

afterEach(async () => {
  await client.end();
  await runAsAdmin(`DROP DATABASE ${database} WITH (FORCE)`);
  await rm(directory, { recursive: true, force: true });
});

async function runAsAdmin(sql: string): Promise<void> {
  const admin = new Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query(sql).finally(() => admin.end());
}

function fileOf(name: string) {
  return join(directory, name, 'migration.sql');
}

async function writeMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name));
  await writeFile(fileOf(name), sql);
}

function migrate() {
  return applyMigrations({ connectionString, directory, log: quietLog });
}

async function rowsOf(sql: string): Promise<unknown[]> {
  return (await client.query(sql)).rows;
}

async function tableExists(name: string): Promise<boolean> {
  return (await client.query('SELECT to_regclass($1) IS NOT NULL AS there', [name])).rows[0].there;
}

describe('the migration runner', () => {
  it('applies missing migrations once, in the order of their names, and records them as Prisma does', async () => {
    const sql = 'CREATE TABLE a (id INT);\nINSERT INTO a VALUES (1);\n';
    await writeMigration('20260102_second', 'INSERT INTO a VALUES (2);');
    await writeMigration('20260101_first', sql);
    await writeFile(join(directory, 'migration_lock.toml'), 'provider = "postgresql"\n');

    await migrate();
    await migrate();

    expect(await rowsOf('SELECT id FROM a ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
    const rows = await rowsOf('SELECT * FROM _prisma_migrations ORDER BY migration_name');
    expect(rows).toHaveLength(2);
    expect(rows[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      checksum: createHash('sha256').update(sql).digest('hex'),
      finished_at: expect.any(Date),
      migration_name: '20260101_first',
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
    });
  });

  it('creates the table with the columns of Prisma', async () => {
    await migrate();
    const columns = await rowsOf(
      `SELECT concat(column_name, ' ', udt_name, character_maximum_length, ' ', is_nullable) AS line
       FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`,
    );
    expect(columns).toEqual(
      [
        'id varchar36 NO',
        'checksum varchar64 NO',
        'finished_at timestamptz YES',
        'migration_name varchar255 NO',
        'logs text YES',
        'rolled_back_at timestamptz YES',
        'started_at timestamptz NO',
        'applied_steps_count int4 NO',
      ].map((line) => ({ line })),
    );
  });

  it('handles semicolons in strings and function bodies as PostgreSQL does', async () => {
    await writeMigration(
      '1_function',
      `CREATE TABLE t (text TEXT); INSERT INTO t VALUES ('a;b');
       CREATE FUNCTION f() RETURNS INT LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN 7; END $$;`,
    );
    await migrate();
    expect(await rowsOf('SELECT text, f() AS f FROM t')).toEqual([{ text: 'a;b', f: 7 }]);
  });

  it('rolls back a migration that fails, names it and its line, and applies it once it is fixed', async () => {
    await writeMigration('1_good', 'CREATE TABLE good (id INT);');
    await writeMigration('2_bad', 'CREATE TABLE half (id INT);\nSELECT nonsense;\n');

    const failure = migrate();
    await expect(failure).rejects.toThrow(MigrationError);
    await expect(failure).rejects.toThrow('The migration 2_bad failed at line 2: column "nonsense" does not exist');
    expect(await tableExists('good')).toBe(true);
    expect(await tableExists('half')).toBe(false);
    expect(await rowsOf('SELECT migration_name FROM _prisma_migrations')).toEqual([{ migration_name: '1_good' }]);

    await writeFile(fileOf('2_bad'), 'CREATE TABLE half (id INT);\n');
    await migrate();
    expect(await tableExists('half')).toBe(true);
  });

  it('lets one of several servers apply while the others wait, even if it builds an index concurrently', async () => {
    await writeMigration('1_table', 'CREATE TABLE a (id INT); INSERT INTO a VALUES (1); SELECT pg_sleep(0.2);');
    await writeMigration('2_index', '-- lynxroom: no transaction\nCREATE INDEX CONCURRENTLY a_id ON a (id);\n');

    await Promise.all([migrate(), migrate(), migrate(), migrate()]);

    expect(await rowsOf('SELECT id FROM a')).toEqual([{ id: 1 }]);
    expect(await rowsOf(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_id'::regclass`)).toEqual([
      { indisvalid: true },
    ]);
    expect(await rowsOf('SELECT count(*)::int AS n FROM _prisma_migrations')).toEqual([{ n: 2 }]);
  });

  it('waits for the holder of the lock of Prisma', async () => {
    await writeMigration('1_table', 'CREATE TABLE a (id INT);');
    await client.query('SELECT pg_advisory_lock(72707369)');
    const done = migrate();
    await sleep(200);
    expect(await tableExists('a')).toBe(false);

    await client.query('SELECT pg_advisory_unlock(72707369)');

    await done;
    expect(await tableExists('a')).toBe(true);
  });

  it('refuses a database that is newer than the code, and changes nothing', async () => {
    await writeMigration('1_first', 'CREATE TABLE a (id INT);');
    await writeMigration('3_later', 'CREATE TABLE c (id INT);');
    await migrate();
    await rm(join(directory, '3_later'), { recursive: true });
    await writeMigration('2_other', 'CREATE TABLE b (id INT);');

    await expect(migrate()).rejects.toThrow(
      /^The database has the migration 3_later, which this version does not know/,
    );
    expect(await tableExists('b')).toBe(false);
  });

  it('refuses a migration that was edited after it was applied', async () => {
    await writeMigration('1_first', 'CREATE TABLE a (id INT);');
    await migrate();
    await appendFile(fileOf('1_first'), '-- an edit\n');
    await expect(migrate()).rejects.toThrow(/^The migration 1_first was edited/);
  });

  it('records a statement that fails outside a transaction, and refuses to continue until it is resolved', async () => {
    await writeMigration('1_table', 'CREATE TABLE a (id INT); INSERT INTO a VALUES (1), (1);');
    await writeMigration('2_index', '-- lynxroom: no transaction\nCREATE UNIQUE INDEX CONCURRENTLY a_id ON a (id);\n');
    await expect(migrate()).rejects.toThrow(/^The migration 2_index failed: could not create unique index/);
    await expect(migrate()).rejects.toThrow(/^The migration 2_index is recorded as failed/);

    await client.query('DROP INDEX a_id');
    await client.query('DELETE FROM a');
    await client.query(`DELETE FROM _prisma_migrations WHERE migration_name = '2_index'`);
    await migrate();
    expect(await tableExists('a_id')).toBe(true);
  });

  it('applies a migration again that `prisma migrate resolve --rolled-back` has marked', async () => {
    await writeMigration('1_first', 'CREATE TABLE a (id INT);');
    await migrate();
    await client.query('DROP TABLE a');
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL, rolled_back_at = now()');
    await migrate();
    expect(await tableExists('a')).toBe(true);
  });

  it('fails with one line if the database or the directory cannot be read', async () => {
    await expect(
      applyMigrations({ connectionString: 'postgresql://x:secret@127.0.0.1:1/x', directory, log: quietLog }),
    ).rejects.toThrow(/^Failed to connect to the database: (?!.*secret)[^\n]+$/);
    await expect(
      applyMigrations({ connectionString, directory: join(directory, 'none'), log: quietLog }),
    ).rejects.toThrow(/^Failed to read the migrations: /);
  });

  it('applies the migrations of this repository to an empty database', async () => {
    await applyMigrations({ connectionString, log: quietLog });
    expect(await rowsOf('SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NULL')).toEqual([]);
    expect(await tableExists('workspaces')).toBe(true);
  });
});
