/** What a move to the trash may cost the store, and what it leaves there. */
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { stagedIn, storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
/** The copies that the store was asked for. Each waits for `gate`, and then fails if `isFull`. */
let copied: string[] = [];
let gate: Promise<void> = Promise.resolve();
let isFull = (_number: number): boolean => false;
beforeAll(async () => {
  app = await startTestApp({
    wrapStore: (store) => ({
      ...store,
      async copy(from, to) {
        const number = copied.push(from);
        await gate;
        if (isFull(number)) throw new StorageUnavailableError('full', new Error('full'));
        await store.copy(from, to);
      },
    }),
  });
});
beforeEach(() => {
  copied = [];
  gate = Promise.resolve();
  isFull = () => false;
});
afterAll(() => app.close());

async function addItems(team: Team, count: number): Promise<number[]> {
  const added = await concurrently(count, () => upload(app, team.path, team.member.token));
  return added.map(({ body }) => body.item.id);
}

const move = ({ path, member }: Team, item_ids: readonly number[]) =>
  app.http.post(`${path}/trash/items`, member.token, { item_ids });

test('of calls that move the same items at once, only the first copies their files', async () => {
  const team = await addTeam(app);
  const item_ids = await addItems(team, 3);
  const moved = await concurrently(8, () => move(team, item_ids));
  expect(countStatuses(moved)).toEqual({ 200: 8 });
  expect(moved.map(({ body }) => body.entries.length).toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 3]);
  expect(copied).toHaveLength(3);
  expect(await storedKeys(app, team.id)).toHaveLength(3);
});

test('a workspace whose moves are slow is refused more of them, and delays no other', async () => {
  const [team, other] = [await addTeam(app), await addTeam(app)];
  const items = await addItems(team, 1);
  const others = await addItems(other, 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const moves = Array.from({ length: 12 }, () => move(team, items));
  const refused = await Promise.race(moves);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect(refused.body.error).toBe('Other files of the workspace are being copied: try again in a moment');
  await expect.poll(() => copied.length).toBe(1);
  gate = Promise.resolve();
  expect((await move(other, others)).body.entries).toHaveLength(1);
  resolve();
  expect(countStatuses(await Promise.all(moves))).toEqual({ 200: 11, 429: 1 });
  expect(await storedKeys(app, team.id)).toHaveLength(1);
});

test('a move whose last files cannot be copied leaves no copy behind', async () => {
  const team = await addTeam(app);
  const item_ids = await addItems(team, 12);
  isFull = (number) => number === 12;
  expect((await move(team, item_ids)).status).toBe(500);
  expect(copied).toHaveLength(12);
  expect(await storedKeys(app, team.id)).toHaveLength(12);
  expect(await stagedIn(app)).toEqual([]);
  isFull = () => false;
  expect((await move(team, item_ids)).body.entries).toHaveLength(12);
});

test('the sweep keeps the copy of an old file that no entry refers to yet', async () => {
  const team = await addTeam(app);
  const item_ids = await addItems(team, 1);
  for (const key of await storedKeys(app, team.id)) {
    const lastWeek = new Date(Date.now() - 7 * DAY_MS);
    await utimes(join(app.filesDir, 'objects', key), lastWeek, lastWeek);
  }
  const { body } = await changeWhileBlocked(
    app,
    `select from workspaces where id = ${team.id} for update`,
    () => move(team, item_ids),
    () => sweepStorage(app.services),
  );
  expect(body.entries).toHaveLength(1);
  const restored = await app.http.post(`${team.path}/trash/restore`, team.member.token, {
    entry_ids: [body.entries[0].id],
  });
  expect(restored.status).toBe(200);
  const { url } = (await app.http.get(`${team.path}/library/${item_ids[0]}/download`, team.member.token)).body;
  expect((await fetch(url)).status).toBe(200);
});
