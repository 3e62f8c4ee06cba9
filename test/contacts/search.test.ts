/** The search of many contacts: what it reads is bounded, and so is what it counts. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let other: Team;

/** Adds contacts by SQL, the oldest first. */
async function addContacts(workspaceId: number, count: number, name: string): Promise<void> {
  await app.services.db.$executeRaw`
    insert into contacts (workspace_id, name, email, created_at)
    select ${workspaceId}::int, ${name} || ' ' || i, lower(${name}) || i || '@example.com',
      timestamptz '2026-01-01' + i * interval '1 second'
    from generate_series(1, ${count}::int) i`;
}

beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  other = await addTeam(app, 'Other');
  await addContacts(team.id, 1, 'Qzebra');
  await addContacts(team.id, 12_000, 'Common');
  await addContacts(team.id, 8_000, 'Frequent');
  await addContacts(other.id, 3, 'Common');
  await app.services.db.$executeRaw`analyze contacts`;
}, 120_000);
afterAll(() => app.close());

async function search(of: Team, text: string, page = ''): Promise<{ names: string[]; total: number }> {
  const { status, body } = await app.http.get(`${of.path}/contacts?search=${text}${page}`, of.member.token);
  expect(status).toBe(200);
  return { names: body.contacts.map(({ name }: { name: string }) => name), total: body.total };
}

test('a search that finds few contacts counts them exactly', async () => {
  expect(await search(team, 'zebra')).toEqual({ names: ['Qzebra 1'], total: 1 });
  expect((await search(team, 'frequent', '&limit=2')).total).toBe(8_000);
  expect((await search(team, 'frequent', '&limit=2')).names).toEqual(['Frequent 8000', 'Frequent 7999']);
  expect((await search(team, 'frequent', '&limit=2&offset=7999')).names).toEqual(['Frequent 1']);
});

test('a search that finds more than 10,000 counts 10,000, and returns the newest first', async () => {
  expect(await search(team, 'common', '&limit=2')).toEqual({ names: ['Common 12000', 'Common 11999'], total: 10_000 });
  expect((await search(team, 'common', '&limit=1&offset=9999')).names).toEqual(['Common 2001']);
});

test('a search of two characters looks at the newest 10,000 contacts', async () => {
  // The oldest contact is not among them.
  expect(await search(team, 'qz')).toEqual({ names: [], total: 0 });
  expect((await search(team, '00', '&limit=1')).names).toEqual(['Common 12000']);
});

test('a search reads nothing of other workspaces', async () => {
  expect(await search(other, 'common')).toEqual({ names: ['Common 3', 'Common 2', 'Common 1'], total: 3 });
});

test.each([
  ['contacts_search', `select id from contacts where workspace_id::bigint = $1 and (name || e'\\n' || email) ilike $2`],
  ['library_items_search', 'select * from library_items where workspace_id::bigint = $1 and name ilike $2'],
])('a generic plan of the search uses the index %s', async (index, statement) => {
  await app.services.db.$executeRaw`
    insert into library_items
      (workspace_id, name, description, file_key, mime_type, size, sha256, created_at, updated_at)
    select ${team.id}::int, md5(i::text), '', gen_random_uuid()::text, 'application/pdf', 1, '', now(), now()
    from generate_series(1, 20000) i`;
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  // Vacuum moves new entries into their place in the index.
  await client.query('vacuum analyze contacts');
  await client.query('vacuum analyze library_items');
  const { rows } = await client.query(`explain (generic_plan) ${statement}`);
  await client.end();
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(index);
});

test('a search in any script finds the same before and after autovacuum, by a scan and by an index', async () => {
  const names = ['istanbul', 'İSTANBUL', 'Договор №7', 'ΣΥΜΒΑΣΗ', '계약서입니다'];
  const searches = ['İstanbul', 'istanbul', 'ДОГОВОР', 'συμβαση', '계약서입'];
  const found = [['istanbul', 'İSTANBUL'], ['istanbul', 'İSTANBUL'], ['Договор №7'], ['ΣΥΜΒΑΣΗ'], ['계약서입니다']];
  await app.services.db.$executeRaw`
    with n as (select name, i from unnest(${names}::text[]) with ordinality as n (name, i)),
    contact as (
      insert into contacts (workspace_id, name, email, created_at)
      select ${team.id}::int, name, 'scripts' || i || '@example.com', now() from n)
    insert into library_items
      (workspace_id, name, description, file_key, mime_type, size, sha256, created_at, updated_at)
    select ${team.id}::int, name, '', gen_random_uuid()::text, 'application/pdf', 1, '', now(), now() from n`;
  const searchAll = async (path: string, field: string) => {
    const answers = searches.map((text) =>
      app.http.get(`${team.path}/${path}?search=${encodeURIComponent(text)}`, team.member.token),
    );
    return (await Promise.all(answers)).map(({ body }) =>
      body[field]
        .map(({ name }: { name: string }) => name)
        .sort((one: string, other: string) => (one < other ? -1 : 1)),
    );
  };
  const find = async () => [await searchAll('contacts', 'contacts'), await searchAll('library', 'items')];
  expect(await find()).toEqual([found, found]);
  await app.services.db.$executeRaw`vacuum analyze contacts`;
  await app.services.db.$executeRaw`vacuum analyze library_items`;
  expect(await find()).toEqual([found, found]);
});
