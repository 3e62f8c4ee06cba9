/** prisma/current.sql is what the migrations add up to. */
import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toCurrentSql } from '../../scripts/describe-database.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

test('prisma/current.sql is current', async () => {
  const committed = readFileSync(new URL('../../prisma/current.sql', import.meta.url), 'utf8');
  const current = await toCurrentSql(client);
  expect(committed, 'prisma/current.sql differs from the migrations: run `npm run current-sql`').toBe(current);
});

test('it describes each kind of change that a schema for Prisma cannot express', async () => {
  const before = await toCurrentSql(client);
  const changes = {
    'CREATE DOMAIN share AS integer CHECK (VALUE >= 0);': 'create domain share as int check (value >= 0)',
    'CREATE SEQUENCE tickets AS integer;': 'create sequence tickets as int',
    'LANGUAGE sql\nAS $function$ select 2 $function$;':
      'create function two() returns int language sql as $$ select 2 $$',
    'ALTER TABLE labels SET (fillfactor=50);': 'alter table labels set (fillfactor = 50)',
    'ADD GENERATED ALWAYS AS (upper(name)) STORED;':
      'alter table labels add low_name text generated always as (upper(name)) stored',
    'ADD CONSTRAINT short CHECK (length(name) < 200)':
      'alter table labels add constraint short check (length(name) < 200)',
    'CREATE INDEX long_names ON labels USING btree (name)\n  WHERE length(name) > 9;':
      'create index long_names on labels (name) where length(name) > 9',
    'CREATE STATISTICS': 'create statistics names on name, created_at from labels',
    '\n  EXECUTE FUNCTION suppress_redundant_updates_trigger();':
      'create trigger same before update on labels for each row execute function suppress_redundant_updates_trigger()',
  };
  for (const [line, change] of Object.entries(changes)) {
    await client.query(change);
    expect(before).not.toContain(line);
    expect(await toCurrentSql(client)).toContain(line);
  }
});
