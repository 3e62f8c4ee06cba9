/** One user who asks for much and hangs up: the others are not affected, and nothing goes on for nobody. */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventually } from '../support/eventually.ts';
import { waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let other: Team;
/** Holds the table of contacts, so that statements on it run for as long as a test needs. */
let holder: pg.Client;

beforeEach(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  other = await addTeam(app, 'Other');
  holder = new pg.Client({ connectionString: app.databaseUrl });
  await holder.connect();
  await holder.query('begin; lock table contacts');
});
afterEach(async () => {
  await holder.end();
  await app.close();
});

async function countWaiting(): Promise<number> {
  const { rows } = await holder.query(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0].count;
}

/** Starts calls of the owner that wait for the table. */
function callContacts(count: number, signal: AbortSignal, method = 'GET'): Promise<(number | 'hung up')[]> {
  return concurrently(count, async (index) => {
    const { token } = team.owner;
    const json = method === 'POST' ? { name: 'Vera', email: `vera${index}@example.com` } : undefined;
    const call = app.http.call(method, `${team.path}/contacts`, { token, json, signal });
    return call.then(
      ({ status }) => status,
      () => 'hung up' as const,
    );
  });
}

test('one user uses 6 of 10 connections, whatever they send, and the others are answered', async () => {
  const gone = new AbortController();
  const calls = callContacts(40, gone.signal);
  // A batch counts each of its calls.
  const batch = team.owner.client;
  const batched = concurrently(20, () => batch.contacts.list.query({ id: team.id }).catch(() => null));
  await waitForLockWait(app, 6);
  const others = await concurrently(20, () => app.http.get(`${other.path}/labels`, other.member.token));
  expect(countStatuses(others)).toEqual({ 200: 20 });
  expect(await countWaiting()).toBe(6);
  gone.abort();
  expect(new Set(await calls)).toEqual(new Set(['hung up']));
  await holder.query('rollback');
  expect((await batched).every((answer) => answer?.total === 0)).toBe(true);
});

test('the statements of those who hang up are cancelled, and their waiting calls never begin', async () => {
  const gone = new AbortController();
  const calls = callContacts(40, gone.signal);
  await waitForLockWait(app, 6);
  gone.abort();
  await calls;
  await eventually(async () => (await countWaiting()) === 0);
  // The table is still held. Whatever else the service does needs no table.
  expect((await app.http.get(`${team.path}/labels`, team.owner.token)).status).toBe(200);
  // Nobody saw an error, so none is logged.
  expect(app.logLines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

test('a change that has begun is completed although its caller has hung up', async () => {
  const gone = new AbortController();
  const calls = callContacts(1, gone.signal, 'POST');
  await waitForLockWait(app, 1);
  gone.abort();
  expect(await calls).toEqual(['hung up']);
  await holder.query('rollback');
  const names = await eventually(async () => {
    const { contacts } = (await app.http.get(`${team.path}/contacts`, team.owner.token)).body;
    return contacts.length > 0 && contacts.map(({ name }: { name: string }) => name);
  });
  expect(names).toEqual(['Vera']);
});

test('more than 200 waiting calls of one user are refused with 429 and Retry-After', async () => {
  const gone = new AbortController();
  const { token } = team.owner;
  const refused: Headers[] = [];
  const calls = concurrently(230, async () => {
    const answer = await app.http
      .call('GET', `${team.path}/contacts`, { token, signal: gone.signal })
      .catch(() => null);
    if (answer?.status === 429) refused.push(answer.headers);
  });
  // Between 1 and 10 of 230 are in progress then, depending on what the calls before them have cost.
  await eventually(async () => refused.length >= 20);
  expect(refused.every((headers) => headers.get('retry-after') === '1')).toBe(true);
  gone.abort();
  await calls;
  expect(refused.length).toBeLessThan(30);
});
