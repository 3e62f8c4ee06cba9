/** Adding the changes that wait in `counter_changes` to the counters, while they are read, changed and deleted. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCounterFolder } from '../../src/db/counters.ts';
import { readAnalytics } from '../../src/features/analytics/read-analytics.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { findOrCreateContacts } from '../support/contacts.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { countRows } from './count-rows.ts';
import { addRoom, addSubjects, makeHistory, type Subjects } from './history.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function foldAll(): Promise<void> {
  const fold = createCounterFolder(app.services);
  while ((await fold()) === 0);
}

function countWaiting(team: Team): Promise<number> {
  return app.services.db.counterChange.count({ where: { workspaceId: team.id } });
}

async function expectExact(team: Team): Promise<void> {
  const { db, clock } = app.services;
  const analytics = await readAnalytics({ db, clock }, { workspaceId: team.id });
  expect(analytics).toEqual(await countRows(db, team.id, clock.now()));
  const { usage } = (await app.http.get(`${team.path}/usage`, team.member.token)).body;
  expect([usage.rooms.used, usage.contacts.used]).toEqual([analytics.kpis.rooms, analytics.kpis.contacts]);
  const { total } = (await app.http.get(`${team.path}/contacts?limit=1`, team.member.token)).body;
  expect(total).toBe(analytics.kpis.contacts);
}

function write(team: Team, subjects: Subjects, seed: number, transactions: number): Promise<void> {
  return makeHistory(app, team, subjects, { seed, transactions, now: app.clock.now() });
}

/** The rows of the counters of a workspace, without what waits. */
async function readCounters(team: Team): Promise<unknown[]> {
  const { db } = app.services;
  const where = { workspaceId: team.id };
  return [
    await db.workspace.findUnique({ where: { id: team.id }, select: { roomCount: true, contactCount: true } }),
    await db.contactDay.count({ where }),
    await db.contactEventDay.count({ where }),
    await db.contactEventSubject.count({ where }),
  ];
}

test('results are exact before, between and after the changes are added', async () => {
  const team = await addTeam(app);
  const subjects = await addSubjects(app, team);
  await write(team, subjects, 1, 40);
  expect(await readCounters(team)).toEqual([{ roomCount: 0, contactCount: 0 }, 0, 0, 0]);
  await expectExact(team);
  await foldAll();
  expect(await countWaiting(team)).toBe(0);
  expect((await readCounters(team))[0]).toMatchObject({ roomCount: 12 });
  await expectExact(team);
  await write(team, subjects, 2, 40);
  await expectExact(team);
  await foldAll();
  await expectExact(team);
});

test('rooms, pages and contacts that are deleted while their changes wait do not count', async () => {
  const team = await addTeam(app);
  const subjects = await addSubjects(app, team);
  const { db } = app.services;
  const where = { workspaceId: team.id };
  await write(team, subjects, 3, 30);
  await foldAll();
  await write(team, subjects, 4, 30);
  await db.room.deleteMany({ where: { ...where, id: { in: subjects.rooms.slice(0, 8) } } });
  await db.bookingPage.deleteMany({ where: { ...where, id: { in: subjects.pages.slice(0, 6) } } });
  await db.contact.deleteMany({ where: { ...where, email: { startsWith: 'person1' } } });
  await expectExact(team);
  await foldAll();
  await expectExact(team);
  const left = await db.contactEventSubject.findMany({ where });
  const existing = new Set([...subjects.rooms.slice(8), ...subjects.pages.slice(6)]);
  expect(left.filter(({ subjectId }) => !existing.has(subjectId))).toEqual([]);
});

test('more changes than one transaction adds are added in several', async () => {
  const team = await addTeam(app);
  await app.services.db.$executeRaw`
    insert into counter_changes (workspace_id, counter, amount)
    select ${team.id}, 'rooms', case when n % 2 = 0 then 1 else -1 end from generate_series(1, 2500) n`;
  const fold = createCounterFolder(app.services);
  expect(await fold()).toBe(0);
  expect(await countWaiting(team)).toBe(1_500);
  await foldAll();
  expect(await countWaiting(team)).toBe(0);
  await expectExact(team);
});

test('the changes of a locked workspace wait, and those of others do not', async () => {
  const [locked, free] = [await addTeam(app), await addTeam(app)];
  for (const team of [locked, free]) await addRoom(app, team);
  await app.services.db.$executeRaw`
    insert into counter_changes (workspace_id, counter, amount)
    select ${locked.id}, 'rooms', 0 from generate_series(1, 2500) n`;
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('select from workspaces where id = $1 for no key update', [locked.id]);
  await foldAll();
  expect([await countWaiting(locked), await countWaiting(free)]).toEqual([2_501, 0]);
  await client.query('commit');
  // Writers that share the lock do not hold it up.
  await client.query('begin');
  await client.query('select from workspaces where id = $1 for key share', [locked.id]);
  await foldAll();
  expect(await countWaiting(locked)).toBe(0);
  await client.query('commit');
  await client.end();
  await expectExact(locked);
});

test('a deleted workspace leaves no change behind', async () => {
  const team = await addTeam(app);
  await write(team, await addSubjects(app, team), 5, 20);
  expect((await app.http.delete(team.path, team.owner.token)).status).toBe(200);
  await foldAll();
  expect(await countWaiting(team)).toBe(0);
});

test('writers of one workspace do not wait for each other', async () => {
  const team = await addTeam(app);
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query(
    `insert into contacts (workspace_id, name, email, created_at) values ($1, 'Kim', 'kim@example.com', now())`,
    [team.id],
  );
  await client.query(`insert into contact_events (workspace_id, type, created_at) values ($1, 'room_join', now())`, [
    team.id,
  ]);
  // The other transaction has not ended. These would time out if they waited for it.
  const { db } = app.services;
  await db.$executeRaw`
    insert into contact_events (workspace_id, type, created_at) values (${team.id}, 'booking', now())`;
  await findOrCreateContacts(db.sql, defaultQuotas, { workspaceId: team.id, at: app.clock.now() }, [
    { name: 'Alex', email: 'alex@example.com' },
  ]);
  await addRoom(app, team);
  await expectExact(team);
  await client.query('commit');
  await client.end();
  await expectExact(team);
});
