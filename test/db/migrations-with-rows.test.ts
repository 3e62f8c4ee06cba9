/** Migrations that change rows, each applied to a database that already has such rows. */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { toMailbox } from '../../src/core/mailbox.ts';
import { applyMigrations } from '../../src/db/migrate.ts';
import { quietLog } from '../support/quiet-log.ts';

const migrations = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

let database: string;
let connectionString: string;
let directory: string;
let client: Client;

beforeEach(async () => {
  database = `rows_${randomUUID().replaceAll('-', '')}`;
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

/** Applies the migrations whose names are below `name`. */
async function migrateBefore(name: string): Promise<void> {
  for (const folder of await readdir(migrations))
    if (folder < name) await cp(join(migrations, folder), join(directory, folder), { recursive: true });
  await applyMigrations({ connectionString, directory, log: quietLog });
}

/** Applies the rest. */
function migrate(): Promise<void> {
  return applyMigrations({ connectionString, log: quietLog });
}

/** Adds Ada (1) with the workspaces 1 and 2. */
async function addWorkspaces(): Promise<void> {
  await client.query(`
    insert into users (id, name, email, password_hash, created_at) values (1, 'Ada', 'ada@example.com', '', now());
    insert into workspaces (id, name, slug, owner_id, created_at)
      values (1, 'One', 'one', 1, now()), (2, 'Two', 'two', 1, now());
    insert into members (workspace_id, user_id, role, joined_at)
      values (1, 1, 'owner', now()), (2, 1, 'owner', now());`);
}

test('bookings of a host that overlap stay and may overlap; new ones may not', async () => {
  await migrateBefore('20261124000600');
  await addWorkspaces();
  await client.query(`
    insert into booking_pages (workspace_id, id, title, slug, user_id, duration, time_zone, hours, created_at,
      updated_at)
    values (1, 1, 'Intro', 'intro', 1, 30, 'UTC', '[]', now(), now()),
      (2, 2, 'Demo', 'demo', 1, 480, 'UTC', '[]', now(), now());
    insert into bookings (workspace_id, id, booking_page_id, name, email, token_hash, starts_at, ends_at,
      cancelled_at, created_at)
    values (1, 1, 1, 'A', 'a@example.com', '1', '2026-06-16 10:00Z', '2026-06-16 10:30Z', null, now()),
      (1, 2, 1, 'B', 'b@example.com', '2', '2026-06-16 17:30Z', '2026-06-16 18:00Z', null, now()),
      (1, 3, 1, 'C', 'c@example.com', '3', '2026-06-16 11:00Z', '2026-06-16 11:30Z', now(), now()),
      (2, 4, 2, 'D', 'd.d+x@gmail.com', '4', '2026-06-16 10:00Z', '2026-06-16 18:00Z', null, now()),
      (1, 5, 1, 'E', '+e.e+x@example.com', '5', '2026-06-16 18:00Z', '2026-06-16 18:30Z', null, now());`);
  await migrate();
  const { rows } = await client.query('select id, user_id, may_overlap from bookings order by id');
  expect(rows).toEqual(
    [true, true, false, true, false].map((may_overlap, index) => ({ id: index + 1, user_id: 1, may_overlap })),
  );
  const mailboxes = await client.query('select mailbox from bookings where id > 3 order by id');
  expect(mailboxes.rows).toEqual([{ mailbox: 'dd@gmail.com' }, { mailbox: '+e.e@example.com' }]);
  const inserting = client.query(`
    insert into bookings (workspace_id, id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at,
      ends_at, created_at)
    values (1, 6, 1, 1, 'F', 'f@example.com', '', '6', '2026-06-16 12:00Z', '2026-06-16 12:30Z', now())`);
  await expect(inserting).rejects.toThrow('bookings_one_calendar');
});

test('names are normalized, and labels that become equal are numbered', async () => {
  await migrateBefore('20261124000601');
  await addWorkspaces();
  const long = 'x'.repeat(63);
  const labels = ['E\u0301', '\u00c9', '\u202e\u00c9', 'E\u0301 (2)', `${long}e\u0301`, `${long}\u00e9`, '\u202e'];
  await client.query(
    `insert into labels (workspace_id, id, name, color, created_at)
     select 1, id, name, '#fff', now() + id * interval '1 second'
     from unnest($1::text[]) with ordinality as l (name, id)`,
    [labels],
  );
  await client.query(`insert into labels (workspace_id, name, color, created_at) values (2, 'E\u0301', '#fff', now())`);
  await client.query(
    `insert into library_items (workspace_id, id, name, description, file_key, mime_type, size, sha256, created_at,
       updated_at)
     values (1, 1, $1, $2, 'k', 'application/pdf', 1, '', now(), now())`,
    ['U\u0308ber\u202e.pdf', 'E\u0301te\u0301 \u202eb'],
  );
  await migrate();
  const names = (await client.query('select name from labels order by workspace_id, created_at')).rows;
  const [x2, y] = [`${'x'.repeat(60)} (2)`, `${long}\u00e9`];
  expect(names.map(({ name }) => name)).toEqual([
    '\u00c9 (2)',
    '\u00c9',
    '\u00c9 (3)',
    '\u00c9 (2) (2)',
    x2,
    y,
    '\u202e',
    '\u00c9',
  ]);
  const items = (await client.query('select name, description from library_items')).rows;
  expect(items).toEqual([{ name: '\u00dcber.pdf', description: '\u00c9t\u00e9 \u202eb' }]);
});

test('upcoming bookings are counted by the mailboxes that the service finds now', async () => {
  await migrateBefore('20261203000100');
  await addWorkspaces();
  const domains = [
    'gmail.com',
    'googlemail.com',
    'pm.me',
    'protonmail.com',
    'ya.ru',
    'yandex.com',
    'me.com',
    'yahoo.de',
  ];
  const others = ['rocketmail.com', 'fastmail.com', 'fastmail.fm', 'ada.fastmail.fm', 'a.b.fastmail.fm', 'example.com'];
  const names = ['ada', 'a.d-a_b+news-x', '+a.b', '-a-b+c', 'a++b'];
  const addresses = [...domains, ...others].flatMap((domain) => names.map((name) => `${name}@${domain}`));
  await client.query(`
    insert into booking_pages (workspace_id, id, title, slug, user_id, duration, time_zone, hours, created_at,
      updated_at)
    values (1, 1, 'Intro', 'intro', 1, 30, 'UTC', '[]', now(), now())`);
  await client.query(
    `insert into bookings (workspace_id, id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at,
       ends_at, created_at)
     select 1, n, 1, 1, 'Guest', email, 'stale', n::text::bytea, now() + n * interval '1 hour',
       now() + (n + 1) * interval '1 hour', now()
     from unnest($1::text[]) with ordinality as a (email, n)`,
    [addresses],
  );
  await client.query(`
    insert into bookings (workspace_id, id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at,
      ends_at, created_at)
    values (1, 999, 1, 1, 'Guest', 'a@pm.me', 'old', 'x', now() - interval '1 hour', now(), now())`);
  await migrate();
  const { rows } = await client.query('select email, mailbox from bookings order by id');
  expect(rows).toEqual([
    ...addresses.map((email) => ({ email, mailbox: toMailbox(email) })),
    { email: 'a@pm.me', mailbox: 'old' },
  ]);
});
