/** The marks of the visits that began a meeting, which triggers maintain. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addRoom, HELD_AT, type TestRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const migration = new URL('../../prisma/migrations/20261227000101_existing_beginnings/migration.sql', import.meta.url);

let app: TestApp;
let team: Team;
let room: TestRoom;
let pool: pg.Pool;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
  pool = new pg.Pool({ connectionString: app.databaseUrl, max: 8 });
});
afterAll(async () => {
  // `end` does not wait until the connections are closed, and the app drops their database.
  const closed = Promise.withResolvers<void>();
  let left = pool.totalCount;
  pool.on('remove', () => {
    left -= 1;
    if (left === 0) closed.resolve();
  });
  await Promise.all([pool.end(), closed.promise]);
  await app.close();
});
beforeEach(async () => {
  room = await addRoom(app, team, team.owner);
});

/** How long the visits are among which the changes choose, in minutes. Some never end. */
const LENGTHS = [0, 1, 3, 3, 5, 8, 20, 60, null];

const changes: Record<string, string> = {
  insert: `
    insert into participants (workspace_id, room_id, name, status, created_at, joined_at, left_at, last_seen_at)
    select $1, $2, 'Guest', case when $4::int is null then 'joined' else 'left' end, t, t,
      t + make_interval(mins => $4::int), t
    from (select timestamptz '2026-01-01' + make_interval(mins => $3::int) as t) at`,
  // Ends the visit at another time, or lets it go on.
  update: `
    update participants set status = case when $4::int is null then 'joined' else 'left' end,
      left_at = joined_at + make_interval(mins => $4::int)
    where workspace_id = $1 and room_id = $2 and id = (
      select id from participants where workspace_id = $1 and room_id = $2 order by id limit 1 offset $3::int % 200)`,
  // Deletes the visits of an hour.
  delete: `
    delete from participants where workspace_id = $1 and room_id = $2 and ($4::int is null or true)
      and joined_at between timestamptz '2026-01-01' + make_interval(mins => $3::int)
        and timestamptz '2026-01-01' + make_interval(mins => $3::int + 60)`,
  admit: `
    with waiting as (
      insert into participants (workspace_id, room_id, name, status, created_at, last_seen_at)
      select $1, $2, 'Guest', 'waiting', now(), now() where $4::int is null or true returning workspace_id, id)
    select id from waiting where $3::int >= 0`,
};

/** Makes a random change. Returns its SQLSTATE if it failed. */
async function change(random: (max: number) => number): Promise<string | null> {
  const kinds = ['insert', 'insert', 'insert', 'insert', 'update', 'update', 'delete', 'admit'];
  const sql = changes[kinds[random(kinds.length)] ?? ''] ?? '';
  const values = [team.id, room.id, random(3_000), LENGTHS[random(LENGTHS.length)]];
  try {
    await pool.query(sql, values);
    const admitted = "update participants set status = 'joined', joined_at = $3 where workspace_id = $1 and id = $2";
    if (sql === changes.admit) {
      const time = new Date(Date.UTC(2026, 0, 1) + random(3_000) * 60_000);
      await pool.query(`${admitted} and status = 'waiting'`, [team.id, await lastWaiting(), time]);
    }
    return null;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '40P01') return error.code;
    throw error;
  }
}

async function lastWaiting(): Promise<number> {
  const { rows } = await pool.query<{ id: number | null }>(
    "select max(id) as id from participants where room_id = $1 and status = 'waiting'",
    [room.id],
  );
  return rows[0]?.id ?? 0;
}

/** The visits with a wrong mark, and how many have one. */
async function compareMarks(): Promise<{ wrong: number[]; marked: number }> {
  const { rows } = await pool.query<{ wrong: number[] | null; marked: number }>(
    `select array_agg(id) filter (where begins_meeting <> begins) as wrong,
       count(*) filter (where begins_meeting)::int as marked
     from (
       select id, begins_meeting, coalesce(max(coalesce(left_at, 'infinity')) over (
         order by joined_at, id rows between unbounded preceding and 1 preceding)
         <= joined_at - interval '10 minutes', true) as begins
       from participants where workspace_id = $1 and room_id = $2 and joined_at is not null) v`,
    [team.id, room.id],
  );
  return { wrong: rows[0]?.wrong ?? [], marked: rows[0]?.marked ?? 0 };
}

function startRandom(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % max;
  };
}

test('the marks are exact after each of many random changes', async () => {
  const random = startRandom(2026);
  let most = 0;
  for (let at = 0; at < 400; at += 1) {
    expect(await change(random)).toBeNull();
    const { wrong, marked } = await compareMarks();
    expect(wrong).toEqual([]);
    most = Math.max(most, marked);
  }
  expect(most).toBeGreaterThan(5);
});

test('the marks are exact after changes at the same time', async () => {
  const random = startRandom(12);
  for (let round = 0; round < 12; round += 1) {
    await Promise.all(Array.from({ length: 40 }, () => change(random)));
    expect((await compareMarks()).wrong).toEqual([]);
  }
});

test('of many who join an empty room at once, one begins the meeting', async () => {
  const join = async (at: number) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query(changes.insert ?? '', [team.id, room.id, at % 3, null]);
      await client.query('select pg_sleep(0.01)');
      await client.query('commit');
    } finally {
      client.release();
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, at) => join(at)));
  expect(await compareMarks()).toEqual({ wrong: [], marked: 1 });
});

test('the migration marks the visits that exist', async () => {
  const random = startRandom(7);
  for (let at = 0; at < 100; at += 1) await pool.query(changes.insert ?? '', [team.id, room.id, random(3_000), 3]);
  await pool.query('update participants set begins_meeting = false where room_id = $1', [room.id]);
  expect((await compareMarks()).wrong.length).toBeGreaterThan(20);
  await pool.query(await readFile(migration, 'utf8'));
  expect((await compareMarks()).wrong).toEqual([]);
});
