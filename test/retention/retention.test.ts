/** The retention policy: reading and setting it, and the sweep that applies it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, SECOND_MS } from '../../src/core/time.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { applyRetentionFirst } from '../../src/runtime/first-retention.ts';
import { removeDiscardedObjects } from '../../src/storage/discarded-objects.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let storeIsDown = false;

beforeAll(async () => {
  app = await startTestApp({
    wrapStore: (store) => ({
      ...store,
      remove: async (key, options) => {
        if (storeIsDown) throw new StorageUnavailableError('down', new Error('down'));
        await store.remove(key, options);
      },
    }),
  });
  team = await addTeam(app);
});
afterAll(() => app.close());

const INVALID_DAYS = 'media_retention_days must be one of 7, 30, 60, 90, 180, 365 or null';
function policyPath(): string {
  return `${team.path}/retention`;
}

async function addItems(count: number, workspace: Team = team): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    expect((await upload(app, workspace.path, workspace.member.token)).status).toBe(200);
  }
}

async function countItems(workspace: Team = team): Promise<number> {
  return (await app.http.get(`${workspace.path}/library`, workspace.owner.token)).body.total;
}

describe('the policy', () => {
  test('is null at first and can be set to every allowed value, through both transports', async () => {
    expect((await app.http.get(policyPath(), team.owner.token)).body).toEqual({ media_retention_days: null });
    for (const days of [7, 30, 60, 90, 180, 365, null] as const) {
      const { status, body } = await app.http.patch(policyPath(), team.owner.token, { media_retention_days: days });
      expect([status, body]).toEqual([200, { media_retention_days: days }]);
      expect(await team.owner.client.retention.read.query({ id: team.id })).toEqual({ media_retention_days: days });
    }
    const set = await team.owner.client.retention.set.mutate({ id: team.id, media_retention_days: 30 });
    expect(set).toEqual({ media_retention_days: 30 });
    expect((await app.http.get(team.path, team.owner.token)).body.workspace.media_retention_days).toBe(30);
    await app.http.patch(policyPath(), team.owner.token, { media_retention_days: null });
  });

  test.each([
    [{}],
    [undefined],
    [{ media_retention_days: 8 }],
    [{ media_retention_days: '7' }],
    [{ media_retention_days: 7.5 }],
    [{ media_retention_days: true }],
  ])('%j is rejected with the list of allowed values and changes nothing', async (body) => {
    await app.http.patch(policyPath(), team.owner.token, { media_retention_days: 90 });
    const answer = await app.http.patch(policyPath(), team.owner.token, body);
    expect([answer.status, answer.body.error]).toEqual([400, INVALID_DAYS]);
    expect(answer.body.issues).toEqual([{ path: 'media_retention_days', message: INVALID_DAYS }]);
    expect((await app.http.get(policyPath(), team.owner.token)).body).toEqual({ media_retention_days: 90 });
    await app.http.patch(policyPath(), team.owner.token, { media_retention_days: null });
  });

  test('can be read and set only by the owner', async () => {
    for (const person of [team.admin, team.member, team.outsider]) {
      expect((await app.http.get(policyPath(), person.token)).status).toBe(403);
      expect((await app.http.patch(policyPath(), person.token, { media_retention_days: 7 })).status).toBe(403);
    }
    expect((await app.http.get(policyPath(), team.owner.token)).body).toEqual({ media_retention_days: null });
  });
});

describe('the sweep', () => {
  test('deletes the rows and files of items older than the policy, and emits an event for each', async () => {
    const other = await addTeam(app, 'No policy');
    await addItems(2);
    await addItems(1, other);
    await app.http.patch(policyPath(), team.owner.token, { media_retention_days: 7 });
    const [newest] = await app.services.db.libraryItem.findMany({
      where: { workspaceId: team.id },
      orderBy: { createdAt: 'desc' },
    });
    const expiry = (newest?.createdAt.getTime() ?? 0) + 7 * DAY_MS;
    const files = (await storedKeys(app)).length;

    // A minute before the newest item is seven days old, neither item has expired.
    app.clock.advance(expiry - SECOND_MS - app.clock.now().getTime() - 60 * SECOND_MS);
    expect(await sweepRetention(app.services)).toBe(0);
    expect(await countItems()).toBe(2);

    app.clock.advance(62 * SECOND_MS);
    expect(await sweepRetention(app.services)).toBe(2);
    expect(await countItems()).toBe(0);
    expect(await countItems(other)).toBe(1);
    expect(await storedKeys(app)).toHaveLength(files - 2);
    const events = await app.services.db.event.findMany({
      where: { workspaceId: team.id, type: 'library_item.deleted' },
    });
    expect(events.map(({ data }) => data)).toMatchObject([
      { deleted_by: null, deleted_by_name: null, workspace_id: team.id },
      { deleted_by: null, deleted_by_name: null, workspace_id: team.id },
    ]);
    expect(await sweepRetention(app.services)).toBe(0);
  });

  test('keeps an item that is exactly as old as the policy, and deletes it a millisecond later', async () => {
    await addItems(1);
    const item = await app.services.db.libraryItem.findFirstOrThrow({ where: { workspaceId: team.id } });
    const sweepAt = (time: number): Promise<number> =>
      sweepRetention({ ...app.services, clock: { now: () => new Date(time) } });
    const sevenDaysOld = item.createdAt.getTime() + 7 * DAY_MS;
    expect(await sweepAt(sevenDaysOld)).toBe(0);
    expect(await countItems()).toBe(1);
    expect(await sweepAt(sevenDaysOld + 1)).toBe(1);
    expect(await countItems()).toBe(0);
  });

  test('deletes many items in batches, each once, even if two sweeps run at once', async () => {
    await addItems(1);
    const { db } = app.services;
    const [item] = await db.libraryItem.findMany({ where: { workspaceId: team.id } });
    if (!item) throw new Error('No item');
    const { id: _, ...template } = item;
    await db.libraryItem.createMany({
      data: Array.from({ length: 450 }, (_value, index) => ({ ...template, fileKey: `v1/none/${index}` })),
    });
    const before = await db.event.count({ where: { workspaceId: team.id, type: 'library_item.deleted' } });
    app.clock.advance(8 * DAY_MS);
    const counts = await Promise.all([sweepRetention(app.services), sweepRetention(app.services)]);
    expect(counts[0] + counts[1]).toBe(451);
    expect(await countItems()).toBe(0);
    const after = await db.event.count({ where: { workspaceId: team.id, type: 'library_item.deleted' } });
    expect(after - before).toBe(451);
  });

  test('a download link stops working when its workspace is deleted, even if the file is still there', async () => {
    const other = await addTeam(app, 'Deleted');
    const { item } = (await upload(app, other.path, other.owner.token)).body;
    const { url } = (await app.http.get(`${other.path}/library/${item.id}/download`, other.owner.token)).body;
    expect((await fetch(url)).status).toBe(200);
    storeIsDown = true;
    expect((await app.http.delete(other.path, other.owner.token)).status).toBe(200);
    expect((await fetch(url)).status).toBe(404);
    storeIsDown = false;
    await removeDiscardedObjects(app.services);
  });

  test('deletes the rows while the store is unavailable, and the files when it is available again', async () => {
    await addItems(2);
    const files = (await storedKeys(app)).length;
    app.clock.advance(8 * DAY_MS);
    storeIsDown = true;
    expect(await sweepRetention(app.services)).toBe(2);
    expect(await countItems()).toBe(0);
    expect(await storedKeys(app)).toHaveLength(files);
    storeIsDown = false;
    await removeDiscardedObjects(app.services);
    expect(await storedKeys(app)).toHaveLength(files - 2);
    expect(await app.services.db.discardedObject.count()).toBe(0);
  });

  test('ends before the server listens, unless it takes too long', async () => {
    const first = await addTeam(app, 'First');
    await app.http.patch(`${first.path}/retention`, first.owner.token, { media_retention_days: 7 });
    await addItems(2, first);
    const { db } = app.services;
    const [kept] = await db.libraryItem.findMany({ where: { workspaceId: first.id }, take: 1 });
    const age = async (where: object) =>
      db.libraryItem.updateMany({
        where: { workspaceId: first.id, ...where },
        data: { createdAt: new Date(app.clock.now().getTime() - 8 * DAY_MS) },
      });
    await age({ NOT: { id: kept?.id ?? 0 } });
    const { stop } = await applyRetentionFirst(app.services);
    expect(await countItems(first)).toBe(1);
    await stop();

    await age({});
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const blocking = db.$transaction(async (tx) => {
      await tx.$queryRaw`select from workspaces where id = ${first.id} for update`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const slow = await applyRetentionFirst(app.services, 1);
    expect(await countItems(first)).toBe(1);
    release.resolve();
    await Promise.all([blocking, slow.stop()]);
    expect(await countItems(first)).toBe(0);
  });

  test('deletes nothing after the policy was disabled', async () => {
    await addItems(1);
    await app.http.patch(policyPath(), team.owner.token, { media_retention_days: null });
    app.clock.advance(400 * DAY_MS);
    expect(await sweepRetention(app.services)).toBe(0);
  });
});
