/** What a scrape costs the database when a lot waits in it. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';
import { scrape, totalOf } from './samples.ts';

const EVENTS = 150_000;
const JOBS = 150_000;

type Plan = { 'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[] };
type Sent = { text: string; values: unknown[] };

let app: TestApp;
let client: pg.Client;
beforeAll(async () => {
  app = await startTestApp({ hasMetrics: true, hasOwnEvents: true });
  const team = await addTeam(app);
  const hook = { name: 'Hook', url: 'https://example.com/hook', events: ['room.created'] };
  const { webhook } = (await app.http.post(`${team.path}/webhooks`, team.owner.token, hook)).body;
  client = new pg.Client({ connectionString: app.superuserUrl });
  await client.connect();
  await client.query('alter table events disable trigger user');
  await client.query(
    `insert into events (workspace_id, type, data, created_at)
     select $1, 'room.created', '{}', now() - interval '1 hour' from generate_series(1, $2::int)`,
    [team.id, EVENTS],
  );
  await client.query(
    `insert into webhook_messages (workspace_id, webhook_id, id, event, payload, job_id, queued_job_id, queue_rank,
       due_at, next_attempt_at, created_at, updated_at)
     select $2, $3, 'msg_' || i, 'room.created', '{}', j.id, j.id, case when i % 10 = 0 then 0 else 18 end, j.due_at,
       j.due_at, now(), now()
     from generate_series(1, $1::int) i cross join lateral (
       select gen_random_uuid() as id, i as number,
         case when i % 2 = 0 then now() - interval '1 min' else now() + interval '1 hour' end as due_at) j`,
    [JOBS, team.id, webhook.id],
  );
  await client.query('analyze events');
  await client.query('analyze webhook_messages');
});
afterAll(async () => {
  await client.end();
  await app.close();
});

/** The statements of a scrape that count, each with the one that sets how its transaction is planned. */
async function statementsOfScrape(): Promise<{ count: Sent; settings: Sent }[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await scrape(app);
  const sent = query.mock.calls.map(([first], index) => {
    return { ...(first as unknown as Sent), client: query.mock.contexts[index] };
  });
  query.mockRestore();
  return sent
    .filter(({ text = '' }) => /\bselect count\(/.test(text))
    .map((count) => {
      const settings = sent.find(({ client, text = '' }) => client === count.client && text.includes('set_config'));
      if (settings === undefined) throw new Error('A transaction without settings');
      return { count, settings };
    });
}

async function planOf({ count, settings }: { count: Sent; settings: Sent }): Promise<Plan[]> {
  await client.query('begin');
  await client.query(settings.text, settings.values);
  await client.query(`select set_config('plan_cache_mode', 'force_generic_plan', true)`);
  const explain = `explain (format json) ${count.text}`;
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explain, count.values);
  await client.query('rollback');
  const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];
  return rows[0]?.['QUERY PLAN'].flatMap(({ Plan }) => flatten(Plan)) ?? [];
}

test('a scrape reads a bounded part of an index, however much waits', async () => {
  const statements = await statementsOfScrape();
  expect(statements).toHaveLength(4);
  for (const statement of statements) {
    const plan = await planOf(statement);
    const types = plan.map((node) => node['Node Type']);
    expect(types).toContain('Limit');
    expect(types.filter((type) => /Seq Scan|Sort|Bitmap/.test(type))).toEqual([]);
    // Besides that part, whether a job is leased: looked up by its ID.
    const indexes = plan.flatMap((node) => node['Index Name'] ?? []);
    expect(indexes.filter((name) => name !== 'webhook_leases_pkey')).toHaveLength(1);
  }
});

test('counts end at their limits', async () => {
  const samples = await scrape(app);
  expect(totalOf(samples, 'lynxroom_relay_waiting_events')).toBe(10_000);
  expect(totalOf(samples, 'lynxroom_relay_lag_seconds')).toBeGreaterThan(3_500);
  expect(totalOf(samples, 'lynxroom_webhook_queue_jobs', { lane: 'fast' })).toBe(15_000);
  expect(totalOf(samples, 'lynxroom_webhook_queue_jobs', { lane: 'slow' })).toBe(20_000);
  expect(totalOf(samples, 'lynxroom_webhook_queue_oldest_seconds', { lane: 'slow' })).toBeGreaterThan(50);
});

test('scrapes at the same time share their reads', async () => {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await Promise.all(Array.from({ length: 10 }, () => scrape(app)));
  const reads = query.mock.calls.filter(([first]) => /relay_waiting|from events/.test(JSON.stringify(first)));
  query.mockRestore();
  expect(reads).toHaveLength(1);
});
