/** What races with a move to the trash, and with a restoration: exactly one of the two takes effect. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { defaultQuotas, type Quotas } from '../../src/quotas/quotas.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team, upload } from '../support/world.ts';

let app: TestApp;
const quotas: Quotas = { ...defaultQuotas };
beforeAll(async () => {
  app = await startTestApp({ settings: { quotas } });
});
beforeEach(() => {
  Object.assign(quotas, defaultQuotas);
});
afterAll(() => app.close());

async function addItems(team: Team, count: number): Promise<number[]> {
  const added = await concurrently(count, () => upload(app, team.path, team.member.token));
  return added.map(({ body }) => body.item.id);
}

async function move(team: Team, item_ids: readonly number[]): Promise<number[]> {
  const { status, body } = await app.http.post(`${team.path}/trash/items`, team.member.token, { item_ids });
  expect(status).toBe(200);
  return body.entries.map(({ id }: { id: number }) => id);
}

const restore = (team: Team, entry_ids: readonly number[]) =>
  app.http.post(`${team.path}/trash/restore`, team.member.token, { entry_ids });
const empty = (team: Team) => app.http.delete(`${team.path}/trash`, team.member.token);

/** How many items the library and the trash have, what the quota counts, and how many files are stored. */
async function countsOf(team: Team) {
  const read = async (path: string) => (await app.http.get(`${team.path}${path}`, team.owner.token)).body;
  await sweepStorage(app.services);
  return {
    library: (await read('/library')).total,
    trash: (await read('/trash')).entries.length,
    quota: (await read('/usage')).usage.items.used,
    files: (await storedKeys(app, team.id)).length,
  };
}

async function countEvents(team: Team, type: string): Promise<number> {
  return (await eventsOf(app, team.id)).filter((event) => event.type === type).length;
}

/** Starts the calls while the workspace is locked, so that all of them wait for the lock and meet. */
function meet<Result>(team: Team, calls: () => Promise<Result>): Promise<Result> {
  return changeWhileBlocked(app, `select from workspaces where id = ${team.id} for update`, calls);
}

test.each(['restore first', 'empty first'])('an entry is either restored or deleted for good: %s', async (order) => {
  const team = await addTeam(app);
  const entryIds = await move(team, await addItems(team, 3));
  const calls = [() => restore(team, entryIds), () => empty(team)] as const;
  const [restored, emptied] = await meet(team, async () => {
    const started = (order === 'restore first' ? calls : calls.toReversed()).map((call) => call());
    const [first, second] = await Promise.all(started);
    return order === 'restore first' ? [first?.body, second?.body] : [second?.body, first?.body];
  });
  const library = restored.entries.length;
  expect(restored.not_found).toHaveLength(3 - library);
  expect(emptied).toEqual({ deleted: 3 - library });
  expect(await countsOf(team)).toEqual({ library, trash: 0, quota: library, files: library });
  expect(await countEvents(team, 'library_item.deleted')).toBe(3);
});

test('moving an item to the trash makes no place in the quota, and deleting it for good makes one', async () => {
  const team = await addTeam(app);
  const [first = 0] = await addItems(team, 2);
  quotas.items = 2;
  const add = () => upload(app, team.path, team.member.token);
  const [[entryId = 0], ...refused] = await meet(team, () => Promise.all([move(team, [first]), add(), add()]));
  expect(refused.map(({ status }) => status)).toEqual([409, 409]);
  expect(await countsOf(team)).toEqual({ library: 1, trash: 1, quota: 2, files: 2 });

  // What comes back was counted, so that even a smaller quota refuses nothing.
  quotas.items = 1;
  expect((await restore(team, [entryId])).status).toBe(200);
  quotas.items = 2;
  const [again = 0] = await move(team, [first]);
  expect((await app.http.delete(`${team.path}/trash/${again}`, team.member.token)).status).toBe(200);
  expect(countStatuses(await concurrently(3, add))).toEqual({ 200: 1, 409: 2 });
  expect(await countsOf(team)).toEqual({ library: 2, trash: 0, quota: 2, files: 2 });
});

test('what retention deletes does not come back, and each deletion is reported once', async () => {
  const team = await addTeam(app);
  await app.http.patch(`${team.path}/retention`, team.owner.token, { media_retention_days: 7 });
  const entryIds = await move(team, await addItems(team, 3));
  app.clock.advance(8 * DAY_MS);
  const [{ body }] = await meet(team, () => Promise.all([restore(team, entryIds), sweepRetention(app.services)]));
  // What was restored after the policy had been applied is older than it allows, so the next sweep deletes it.
  await sweepRetention(app.services);
  expect(await countsOf(team)).toEqual({ library: 0, trash: 0, quota: 0, files: 0 });
  const restored = body.entries.length;
  expect(await countEvents(team, 'library_item.uploaded')).toBe(3 + restored);
  expect(await countEvents(team, 'library_item.deleted')).toBe(3 + restored);
});

describe('who has lost the role or the session while the call waited', () => {
  const ends = [
    [
      'removed',
      ({ id }: Team, by: Person) => `delete from members where workspace_id = ${id} and user_id = ${by.id}`,
      403,
    ],
    ['demoted', (_: Team, by: Person) => `update members set role = 'member' where user_id = ${by.id}`, 403],
    ['signed out', (_: Team, by: Person) => `delete from sessions where user_id = ${by.id}`, 401],
  ] as const;
  const addRoom = async (team: Team): Promise<string> =>
    (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body.room.name;
  const moveRoom = ({ path }: Team, { token }: Person, room_name: string) =>
    app.http.post(`${path}/trash/rooms`, token, { room_name });

  test.each(ends)('does nothing to rooms: %s', async (how, end, status) => {
    const team = await addTeam(app);
    const [room, binned] = [await addRoom(team), await addRoom(team)];
    const { entry } = (await moveRoom(team, team.owner, binned)).body;
    const calls: readonly ((by: Person) => Promise<Answer>)[] = [
      (by) => moveRoom(team, by, room),
      ({ token }) => app.http.post(`${team.path}/trash/restore`, token, { entry_ids: [entry.id] }),
      ({ token }) => app.http.delete(`${team.path}/trash/${entry.id}`, token),
      ({ token }) => app.http.delete(`${team.path}/trash`, token),
    ];
    for (const call of calls) {
      const by = await addAdmin(team);
      const lock = `select from workspaces where id = ${team.id} for update`;
      const refused = await changeWhileBlocked(
        app,
        lock,
        () => call(by),
        (client) => client.query(end(team, by)),
      );
      expect([how, refused.status]).toEqual([how, status]);
    }
    expect((await app.http.get(`${team.path}/trash`, team.owner.token)).body.entries).toEqual([entry]);
    expect((await app.http.get(`/api/dashboard/rooms/${room}`, team.owner.token)).status).toBe(200);
  });

  test('moves no items, and leaves no copies of their files', async () => {
    const team = await addTeam(app);
    const item_ids = await addItems(team, 2);
    const { id, token } = team.member;
    const refused = await changeWhileBlocked(
      app,
      `select from workspaces where id = ${team.id} for update`,
      () => app.http.post(`${team.path}/trash/items`, token, { item_ids }),
      (client) => client.query(`delete from members where workspace_id = ${team.id} and user_id = ${id}`),
    );
    expect(refused.status).toBe(403);
    expect(await storedKeys(app, team.id)).toHaveLength(2);
    expect(await countsOf(team)).toEqual({ library: 2, trash: 0, quota: 2, files: 2 });
  });
});

/** Adds another admin. */
async function addAdmin(team: Team): Promise<Person> {
  const person = await addPerson(app);
  await app.services.db.member.create({
    data: { workspaceId: team.id, userId: person.id, role: 'admin', joinedAt: app.clock.now() },
  });
  return person;
}
