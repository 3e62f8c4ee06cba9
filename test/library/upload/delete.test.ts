import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { removeDiscardedObjects } from '../../../src/storage/discarded-objects.ts';
import { until } from '../../storage/sources.ts';
import { eventsOf } from '../../support/events.ts';
import { storedKeys } from '../../support/stored-files.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team, upload } from '../../support/world.ts';
import { createFaultyStore, failUnavailable } from './faults.ts';
import { itemsOf, tracesOf } from './traces.ts';

const { faults, wrapStore, real } = createFaultyStore();

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ wrapStore });
});
afterEach(() => {
  delete faults.remove;
});
afterAll(() => app.close());

async function addItem(team: Team): Promise<string> {
  const { body } = await upload(app, team.path, team.member.token);
  return `${team.path}/library/${body.item.id}`;
}

function discarded() {
  return app.services.db.discardedObject.count();
}

describe('deleting an item', () => {
  test('deletes its file and its row, reduces the count and emits one event', async () => {
    const team = await addTeam(app);
    const path = await addItem(team);
    const answer = await app.http.delete(path, team.member.token);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await tracesOf(app, team.id)).toMatchObject({ rows: 0, counted: 0, objects: 0, staged: 0 });
    expect(await eventsOf(app, team.id, 'library_item.deleted')).toHaveLength(1);
    expect(await discarded()).toBe(0);
  });

  test('makes its download URL stop working', async () => {
    const team = await addTeam(app);
    const path = await addItem(team);
    const { url } = (await app.http.get(`${path}/download`, team.member.token)).body;
    expect((await fetch(url)).status).toBe(200);
    await app.http.delete(path, team.member.token);
    expect((await fetch(url)).status).toBe(404);
  });

  test('succeeds while the store is unavailable, and the file is deleted later', async () => {
    const team = await addTeam(app);
    const path = await addItem(team);
    faults.remove = failUnavailable;
    const answer = await app.http.delete(path, team.member.token);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await tracesOf(app, team.id)).toMatchObject({ rows: 0, counted: 0, objects: 1 });
    await removeDiscardedObjects(app.services);
    expect([(await storedKeys(app, team.id)).length, await discarded()]).toEqual([1, 1]);
    delete faults.remove;
    await removeDiscardedObjects(app.services);
    expect([await storedKeys(app, team.id), await discarded()]).toEqual([[], 0]);
  });

  test('passes an abort signal to the store, and keeps the key of a file that could not be deleted', async () => {
    const team = await addTeam(app);
    const path = await addItem(team);
    let receivedSignal: AbortSignal | undefined;
    faults.remove = (_key, { signal } = {}) => {
      receivedSignal = signal;
      return failUnavailable();
    };
    expect((await app.http.delete(path, team.member.token)).status).toBe(200);
    expect(receivedSignal).toBeInstanceOf(AbortSignal);
    expect(await discarded()).toBe(1);
    delete faults.remove;
    await removeDiscardedObjects(app.services);
    expect(await discarded()).toBe(0);
  });

  test('succeeds for one of twenty concurrent requests, with one event, and gives 404 to the others', async () => {
    const team = await addTeam(app);
    const path = await addItem(team);
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.http.delete(path, team.member.token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(404)]);
    expect(new Set(answers.map(({ body }) => body.error ?? 'ok'))).toEqual(new Set(['ok', 'Item not found']));
    expect(await eventsOf(app, team.id, 'library_item.deleted')).toHaveLength(1);
    expect(await tracesOf(app, team.id)).toMatchObject({ rows: 0, counted: 0, objects: 0 });
  });

  test('keeps the count right during concurrent uploads', async () => {
    const team = await addTeam(app);
    const paths = await Promise.all(Array.from({ length: 6 }, () => addItem(team)));
    await Promise.all([
      ...paths.map((path) => app.http.delete(path, team.member.token)),
      ...Array.from({ length: 6 }, () => addItem(team)),
    ]);
    expect(await tracesOf(app, team.id)).toMatchObject({ rows: 6, counted: 6, objects: 6, staged: 0 });
  });
});

test('deleting a workspace deletes all its files, and no others', async () => {
  const team = await addTeam(app);
  const other = await addTeam(app);
  for (let count = 0; count < 45; count += 1) await addItem(team);
  await addItem(other);
  expect((await app.http.delete(team.path, team.owner.token)).status).toBe(200);
  await until(async () => (await discarded()) === 0);
  expect(await storedKeys(app, team.id)).toEqual([]);
  expect([(await itemsOf(app, other.id)).length, (await storedKeys(app, other.id)).length]).toEqual([1, 1]);
});

test('a file that cannot be deleted does not prevent the deletion of others', async () => {
  const team = await addTeam(app);
  for (let count = 0; count < 25; count += 1) await addItem(team);
  const [stuck] = (await itemsOf(app, team.id)).map(({ fileKey }) => fileKey).sort();
  faults.remove = (key, options) => (key === stuck ? failUnavailable() : real().remove(key, options));
  await app.http.delete(team.path, team.owner.token);
  await until(async () => (await discarded()) === 1);
  expect(await storedKeys(app, team.id)).toHaveLength(1);
  delete faults.remove;
  await removeDiscardedObjects(app.services);
  expect([await storedKeys(app, team.id), await discarded()]).toEqual([[], 0]);
});
