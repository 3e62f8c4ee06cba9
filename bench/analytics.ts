/**
 * Measures what the stored sums of analytics save and cost, in interleaved rounds on one PostgreSQL:
 *   taskset -c 1 node bench/analytics.ts [millions=1,10] [rounds=5]
 * The server runs on CPU 0; the client and PostgreSQL share CPU 1. Linux only. It takes six minutes and 3 GB of disk.
 */
import { deepStrictEqual } from 'node:assert';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';
import type { Sql } from '../src/db/statements.ts';
import { readAnalytics } from '../src/features/analytics/read-analytics.ts';
import { readOptions } from './options.ts';
import { cpuMs, median, spread, startScript } from './upload-servers.ts';

const options = readOptions();
const millions = (options.millions ?? '1,10').split(',').map(Number);
const rounds = Number(options.rounds ?? 5);

const MILLION = 1_000_000;
const READS = 100;
const WRITES = 100;
const WRITERS = 8;
const ROOMS = 2_000;
const PAGES = 50;
const CONTACTS = 100_000;

/** The same answer, computed by counting the events on each call. */
const LIVE = `
  with e as not materialized (select * from contact_events where workspace_id = $1),
    since as (select ($2::date - 29)::timestamp at time zone 'UTC' as start,
      ($2::date + 1)::timestamp at time zone 'UTC' as stop)
  select json_build_object(
    'kpis', json_build_object(
      'rooms', (select count(*) from rooms where workspace_id = $1),
      'recordings', (select count(*) from recordings where workspace_id = $1),
      'recordingDuration', (select coalesce(sum(duration), 0) from recordings where workspace_id = $1),
      'contacts', (select count(*) from contacts where workspace_id = $1),
      'bookings', (select count(*) from e where type = 'booking')),
    'activityTimeline', (select coalesce(json_agg(t order by t.date), '[]') from (
      select (created_at at time zone 'UTC')::date as date, count(*) filter (where type = 'booking') as bookings,
        count(*) filter (where type = 'room_join') as room_joins
      from e, since where created_at >= start and created_at < stop and type in ('booking', 'room_join') group by 1) t),
    'eventTypeBreakdown', (select coalesce(json_agg(t order by t.count desc, t.type collate "C"), '[]') from (
      select type, count(*) as count from e group by 1) t),
    'topBookingPages', (select coalesce(json_agg(t order by t.count desc, t.id), '[]') from (
      select p.id, p.title, p.slug, count(*) as count
      from e join booking_pages p on p.workspace_id = $1 and p.id = e.booking_page_id
      where e.type = 'booking' group by 1, 2, 3 order by 4 desc, 1 limit 5) t),
    'newContactsTimeline', (select coalesce(json_agg(t order by t.date), '[]') from (
      select (created_at at time zone 'UTC')::date as date, count(*) as count from contacts, since
      where workspace_id = $1 and created_at >= start and created_at < stop group by 1) t),
    'topRooms', (select coalesce(json_agg(t order by t.count desc, t.id), '[]') from (
      select r.id, r.name, r.display_name, count(*) as count
      from e join rooms r on r.workspace_id = $1 and r.id = e.room_id
      where e.type = 'room_join' group by 1, 2, 3 order by 4 desc, 1 limit 5) t)) as analytics`;

const LIVE_INDEXES = `
  create index live_types on contact_events (workspace_id, type, created_at);
  create index live_rooms on contact_events (workspace_id, room_id) where type = 'room_join';
  create index live_pages on contact_events (workspace_id, booking_page_id) where type = 'booking'`;

type Statement = { name: string; text: string; values: unknown[] };

/** Returns the statement that the operation sends to its database. */
async function captureStatement(workspaceId: number): Promise<Statement> {
  let statement: Statement = { name: 'stored', text: '', values: [] };
  const sql: Sql = {
    run: async ({ text, encode }, params) => {
      statement = { name: 'stored', text, values: encode(params) };
      return [{ analytics: null }] as never[];
    },
  };
  await readAnalytics({ db: { sql }, clock: { now: () => new Date() } }, { workspaceId });
  return statement;
}

async function ask(url: string, path: string, token?: string, json?: object) {
  const answer = await fetch(url + path, {
    method: json ? 'POST' : 'GET',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json && { 'content-type': 'application/json' }),
    },
    body: JSON.stringify(json) ?? null,
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { token: string; workspaces: { id: number }[] };
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let count = 0; count < times; count += 1) took.push(await milliseconds(work));
  return took;
}

function p99(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN;
}

await using cleanup = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'lynxroom-bench-'));
// If root runs this, PostgreSQL runs as another account, which must be able to enter.
await chmod(folder, 0o755);
cleanup.defer(() => rm(folder, { recursive: true, force: true }));
const log = { debug() {}, info() {}, warn() {}, error: console.error };
const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log });
cleanup.defer(() => postgres.stop());
const server = await startScript(fileURLToPath(new URL('../src/server.ts', import.meta.url)), {
  DATABASE_URL: postgres.url,
  DATA_DIR: join(folder, 'files'),
  RATE_LIMIT_SIGNED_IN: '0',
});
cleanup.defer(() => server.stop());

async function connect(): Promise<pg.Client> {
  const settings = '-c jit=off -c plan_cache_mode=force_generic_plan -c timezone=UTC';
  const client = new pg.Client({ connectionString: postgres.url, options: settings });
  await client.connect();
  cleanup.defer(() => client.end());
  return client;
}
const client = await connect();
const clients = [client];
while (clients.length < WRITERS) clients.push(await connect());
const account = { name: 'Bench', email: 'bench@example.com', password: 'a long password' };
const { token } = await ask(server.url, '/api/auth/register', undefined, account);
const { workspaces } = await ask(server.url, '/api/workspaces', token);
const workspaceId: number = workspaces[0]?.id ?? 0;
const path = `/api/workspaces/${workspaceId}/analytics`;

await client.query(`
    insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
      select w.id, 'room-' || n, w.owner_id, '#6366f1', now(), now() from workspaces w, generate_series(1, ${ROOMS}) n;
    insert into booking_pages (workspace_id, title, slug, user_id, duration, time_zone, hours, created_at, updated_at)
      select w.id, 'Page ' || n, 'page-' || n, w.owner_id, 30, 'UTC', '[]', now(), now()
      from workspaces w, generate_series(1, ${PAGES}) n;
    insert into contacts (workspace_id, name, email, created_at)
      select ${workspaceId}, 'Contact', n || '@example.com', now() - random() * interval '400 days'
      from generate_series(1, ${CONTACTS}) n;
    alter table contact_events disable trigger user; alter table contact_events enable trigger contact_events_added`);
const stored = await captureStatement(workspaceId);
const live: Statement = { name: 'live', text: LIVE, values: [workspaceId, new Date().toISOString().slice(0, 10)] };
function rest() {
  return ask(server.url, path, token);
}

/** Adds `parts` million events of 400 days: five types, with joins of all rooms and bookings of all pages. */
async function load(parts: number): Promise<void> {
  for (let part = 0; part < parts; part += 1)
    await client.query(`
        insert into contact_events (workspace_id, type, contact_id, room_id, booking_page_id, created_at)
          select ${workspaceId}, type, 1 + random() * ${CONTACTS - 1},
            case type when 'room_join' then 1 + floor(${ROOMS} * random() * random()) end,
            case type when 'booking' then 1 + floor(${PAGES} * random()) end, now() - random() * interval '400 days'
          from (select (array['room_join', 'room_join', 'room_leave', 'booking', 'page_view',
            'message'])[1 + floor(random() * 6)] as type
            from generate_series(1, ${MILLION})) drawn`);
  await waitForCounters();
  await client.query('vacuum analyze');
}

/** Waits until the server has added all changes to the counters. */
async function waitForCounters(): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query('select from counter_changes limit 1');
    if (rowCount === 0) return;
    await sleep(100);
  }
}

async function showReads(title: string): Promise<void> {
  const answer = await rest();
  for (const statement of [stored, live]) {
    const { rows }: pg.QueryResult<{ analytics: unknown }> = await client.query(statement);
    deepStrictEqual(rows[0]?.analytics, answer, `${title}: ${statement.name} differs`);
  }
  await repeat(READS, rest);
  const took = { rest: [] as number[], stored: [] as number[], live: [] as number[], cpu: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const before = cpuMs(server.pid);
    took.rest.push(...(await repeat(READS, rest)));
    took.cpu.push((cpuMs(server.pid) - before) / READS);
    took.stored.push(...(await repeat(READS, () => client.query(stored))));
    took.live.push(...(await repeat(1, () => client.query(live))));
  }
  const line = (name: string, values: number[]): string => {
    const ratio = (median(took.live) / median(values)).toFixed(0);
    return `${name} | ${median(values).toFixed(2)} | ${p99(values).toFixed(2)} | ${ratio}`;
  };
  console.log(`\n${title}: ms a call | p50 | p99 | live / this`);
  console.log(line(`GET analytics (server CPU ${spread(took.cpu, 2)} ms)`, took.rest));
  console.log(line('stored sums, SQL', took.stored));
  console.log(line('live counts, SQL', took.live));
}

function write(by: pg.Client) {
  return by.query({
    name: 'write',
    text: `insert into contact_events (workspace_id, type, contact_id, room_id, created_at)
      values ($1, $2, $3, $4, now())`,
    values: [workspaceId, 'room_join', 1, 1 + Math.floor(Math.random() * ROOMS)],
  });
}

async function showWrites(title: string): Promise<void> {
  await client.query('alter table contact_events enable trigger all');
  const one = { with: [] as number[], without: [] as number[] };
  const many = { with: [] as number[], without: [] as number[] };
  for (let round = 0; round < rounds * 4; round += 1)
    for (const way of round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      const set = way === 'with' ? 'enable' : 'disable';
      await client.query(`alter table contact_events ${set} trigger contact_events_added`);
      for (const by of clients) await repeat(10, () => write(by));
      one[way].push(median(await repeat(WRITES, () => write(client))));
      const took = await milliseconds(() => Promise.all(clients.map((by) => repeat(WRITES, () => write(by)))));
      many[way].push((WRITERS * WRITES) / (took / 1000));
    }
  console.log(`\n${title}: one event written | ms, one writer | events a second, ${WRITERS} writers`);
  for (const way of ['with', 'without'] as const)
    console.log(`${way} sums | ${spread(one[way], 3)} | ${spread(many[way])}`);
  const ratios = (values: typeof one): number[] =>
    values.with.map((value, round) => value / (values.without[round] ?? 0));
  console.log(`with / without, by round | ${spread(ratios(one), 2)} | ${spread(ratios(many), 2)}`);
}

let loaded = 0;
for (const size of millions) {
  const took = await milliseconds(() => load(size - loaded));
  loaded = size;
  console.log(`\n${size} M events, the last ones loaded in ${(took / 1000).toFixed(0)} s`);
  await showReads(`${size} M events`);
}
await client.query(LIVE_INDEXES);
await client.query('vacuum analyze');
await showReads(`${loaded} M events, live counts with indexes of their own`);
await client.query('drop index live_types, live_rooms, live_pages');
await showWrites(`${loaded} M events`);

await client.query(`
    insert into contact_event_days select ${workspaceId}, current_date - n, 'type_' || t, 1
      from generate_series(401, 3650) n, generate_series(1, 8) t;
    insert into contact_event_subjects select ${workspaceId}, 'room_join', 1000000 + n, 1
      from generate_series(1, 20000) n;
    analyze`);
const old = await repeat(READS * rounds, () => client.query(stored));
console.log(
  `\nten years of eight types, 22,000 rooms: stored sums, SQL | ${median(old).toFixed(2)} | ${p99(old).toFixed(2)}`,
);
