/** How much a page of meetings reads, in workspaces with many visits. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MAX_MEETING_VISITS, MAX_SEARCHED_VISITS } from '../../src/features/meetings/schemas.ts';
import { addRoom, type TestRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { listPage } from './visits.ts';

type Plan = {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
};

const migration = new URL('../../prisma/migrations/20261227000101_existing_beginnings/migration.sql', import.meta.url);
const LARGE = MAX_MEETING_VISITS + 2_000;

let app: TestApp;
let team: Team;
let client: pg.Client;
const rooms: TestRoom[] = [];
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  for (let at = 0; at < 4; at += 1) rooms.push(await addRoom(app, team, team.owner));
  const [small, ...large] = rooms;
  await client.query('alter table participants disable trigger user');
  await client.query(
    `insert into participants (workspace_id, room_id, name, user_id, status, created_at, joined_at, left_at,
       last_seen_at)
     select $1, $2, 'Guest ' || i % 3, case when i % 3 = 0 then $3::int end, 'left', t, t, t + interval '8 minutes', t
     from generate_series(1, 9000) i, lateral (
       select now() - interval '1 day 30 minutes' - i / 3 * interval '1 hour' - i % 3 * interval '1 minute' as t) at`,
    [team.id, small?.id, team.member.id],
  );
  // Each of these rooms had one meeting that nobody ever left empty.
  for (const [at, room] of large.entries())
    await client.query(
      `insert into participants (workspace_id, room_id, name, user_id, status, created_at, joined_at, left_at,
         last_seen_at)
       select $1, $2, 'Crowd ' || i, $3, 'left', t, t, t + interval '8 minutes', t
       from generate_series(1, $4::int) i, lateral (
         select now() - interval '1 hour' - $5 * interval '1 minute' - i * interval '5 minutes' as t) at`,
      [team.id, room.id, at === 0 ? team.admin.id : null, LARGE, at],
    );
  await client.query('alter table participants enable trigger user');
  await client.query(await readFile(migration, 'utf8'));
  await client.query('vacuum analyze participants');
});
afterAll(async () => {
  await client.end();
  await app.close();
});

/** How many rows of visits the statement of a page reads, with the plan that a connection keeps. */
async function countRead(read: () => Promise<unknown>): Promise<number> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await read();
  const sent = query.mock.calls.map(([first]) => first as unknown as { text?: string; values?: unknown[] });
  query.mockRestore();
  const statements = sent.filter(({ text = '' }) => text.includes('begins_meeting'));
  expect(statements.length).toBeGreaterThan(0);
  let sum = 0;
  for (const { text, values } of statements) {
    await client.query('begin');
    await client.query(`select set_config('plan_cache_mode', 'force_generic_plan', true)`);
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, timing off, format json) ${text}`,
      values,
    );
    await client.query('rollback');
    sum += rows[0]?.['QUERY PLAN'].reduce((total, { Plan }) => total + visitsIn(Plan), 0) ?? 0;
  }
  return sum;
}

function visitsIn(plan: Plan): number {
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = plan['Relation Name'] === 'participants' ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0;
  return own + (plan.Plans ?? []).reduce((sum, inner) => sum + visitsIn(inner), 0);
}

const list = (query: Record<string, string | number>) => () => listPage(app, team, team.owner, query);

test('a page of small meetings reads a few visits for each meeting, among many visits', async () => {
  const name = rooms[0]?.name ?? '';
  const first = await listPage(app, team, team.owner, { room: name, limit: 5 });
  expect(first.meetings).toHaveLength(5);
  const yesterday = Math.floor(Date.now() / 1_000) - 20 * 24 * 3_600;
  const inRange = { from: yesterday, to: yesterday + 24 * 3_600 };
  for (const query of [
    { room: name, limit: 5 },
    { room: name, limit: 5, cursor: first.next_cursor ?? '' },
    { room: name, limit: 5, ...inRange },
    { limit: 5, ...inRange },
  ]) {
    expect(await countRead(list(query))).toBeLessThan(120);
  }
  const [meeting] = first.meetings;
  const read = () => team.owner.client.meetings.read.query({ id: team.id, meetingId: meeting?.id ?? 0 });
  expect(await countRead(read)).toBeLessThan(60);
});

test('a page by user reads at most the newest visits of the user, and a few for each meeting', async () => {
  const read = list({ user_id: team.member.id, limit: 5 });
  // The user has 3,000 visits, each in a meeting with two others.
  expect(await countRead(read)).toBeLessThan(2 * 3_000 + 120);
  const crowd = list({ user_id: team.admin.id, limit: 5 });
  expect(await countRead(crowd)).toBeLessThan(2 * MAX_SEARCHED_VISITS + 2 * MAX_MEETING_VISITS + 120);
});

test('a page ends after very large meetings, of each of which a bounded part is read', async () => {
  const to = Math.floor(Date.now() / 1_000) - 3_600 - LARGE * 300 + 600;
  const query = { limit: 5, to };
  const first = await listPage(app, team, team.owner, query);
  expect(first.meetings.map(({ room }) => room.name)).toEqual([rooms[1]?.name, rooms[2]?.name]);
  expect(first.meetings.map(({ participant_count }) => participant_count)).toEqual([1, MAX_MEETING_VISITS]);
  const next = await listPage(app, team, team.owner, { ...query, cursor: first.next_cursor ?? '' });
  expect(next.meetings.map(({ room }) => room.name)).toEqual([rooms[3], ...Array(4).fill(rooms[0])].map((r) => r.name));
  // Once to count the visits of each meeting, and once to read those of two.
  expect(await countRead(list(query))).toBeLessThan(5 * MAX_MEETING_VISITS + 120);
  const [meeting] = first.meetings;
  const read = () => team.owner.client.meetings.read.query({ id: team.id, meetingId: meeting?.id ?? 0 });
  const { meeting: found } = await read();
  expect(found.participants[0]?.visit_count).toBe(MAX_MEETING_VISITS);
  expect(await countRead(read)).toBeLessThan(4 * MAX_MEETING_VISITS + 60);
});
