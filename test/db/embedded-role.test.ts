/** The role that the service uses in its embedded PostgreSQL: no superuser, and the owner of everything. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as embedded from '@lynxroom/embedded-postgres';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { applyMigrations } from '../../src/db/migrate.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeTempDir } from '../support/temp-dir.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await makeTempDir();
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const ATTRIBUTES = `select current_user as name,
  rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls as "isPrivileged"
  from pg_roles where rolname = current_user`;
/** Everything outside the schemas of PostgreSQL and outside extensions that the role does not own. */
const NOT_OWNED = `select pg_describe_object(classid, objid, 0) as object
  from (
    select 'pg_class'::regclass as classid, oid as objid, relowner as owner, relnamespace as schema from pg_class
    union all select 'pg_proc'::regclass, oid, proowner, pronamespace from pg_proc
    union all select 'pg_type'::regclass, oid, typowner, typnamespace from pg_type
    union all select 'pg_namespace'::regclass, oid, nspowner, oid from pg_namespace where nspname <> 'public'
  ) as objects
  where owner <> current_user::regrole and schema::regnamespace::text !~ '^(pg_|information_schema)' and not exists (
    select from pg_depend as extension
    where extension.classid = objects.classid and extension.objid = objects.objid and deptype = 'e')`;

test('the service owns a new database without being a superuser', async () => {
  const postgres = await startEmbeddedPostgres({ dataDir, stateDir: join(dataDir, 'state'), log: quietLog });
  await applyMigrations({ connectionString: postgres.url, log: quietLog });
  expect(await query(postgres.url, ATTRIBUTES)).toEqual([{ name: 'lynxroom', isPrivileged: false }]);
  expect(await query(postgres.url, NOT_OWNED)).toEqual([]);
  await expect(query(postgres.url, `copy (select 1) to program 'true'`)).rejects.toThrow('permission denied');
  await expect(query(postgres.url, 'alter role lynxroom superuser')).rejects.toThrow('permission denied');
  await postgres.stop();
});

test('a data directory of an earlier version, in which the superuser owns everything, is handed over', async () => {
  const options = { dataDir, stateDir: join(dataDir, 'state'), log: quietLog };
  const before = await embedded.startEmbeddedPostgres({ database: 'lynxroom', ...options });
  await applyMigrations({ connectionString: before.url, log: quietLog });
  await query(
    before.url,
    `create schema "Odd name"; create type "Odd name".mood as enum ('good'); create sequence "Odd name".counter;
     create table "Odd name"."Table" (id serial, other int generated always as identity, mood "Odd name".mood);
     create view "Odd name".view as select * from "Odd name"."Table";
     create function "Odd name".twice(int) returns int language sql return $1 * 2;
     insert into users (name, email, password_hash, created_at) values ('Olive', 'olive@example.com', '', now())`,
  );
  await before.stop();

  for (const start of ['first', 'second']) {
    const after = await startEmbeddedPostgres(options);
    expect(await query(after.url, NOT_OWNED), start).toEqual([]);
    await applyMigrations({ connectionString: after.url, log: quietLog });
    expect(await query(after.url, 'select name from users')).toEqual([{ name: 'Olive' }]);
    // What a later migration may need.
    await query(
      after.url,
      `alter table users add column extra int; alter table users drop column extra;
       create or replace function "Odd name".twice(int) returns int language sql return $1 + $1;
       create extension if not exists btree_gist; drop extension btree_gist`,
    );
    await after.stop();
  }
});
