import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { createObjectKey } from '../../src/storage/create-object-key.ts';
import { removeDiscardedObjects } from '../../src/storage/discarded-objects.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import { TAIL_INFIX } from '../../src/storage/object-key.ts';
import type { ObjectStore, StoredObject } from '../../src/storage/object-store.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { readAll, stuckSource, until } from './sources.ts';

let app: TestApp;
let team: Team;
let root: string;
let store: ObjectStore;
/** The methods of the store that a test replaces. */
let faults: Partial<ObjectStore> = {};
/** How many milliseconds the clock of the sweep is ahead of the files. */
let ahead = 0;
let reports: Record<string, unknown>[];

const clock = { now: () => new Date(Date.now() + ahead) };
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (details: object) => void reports.push({ ...details }),
};

beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'lynxroom-sweep-'));
  store = await createDiskStore({ root, signingSecret: 'a secret for tests only', clock });
  faults = {};
  ahead = 0;
  reports = [];
});
afterEach(async () => {
  await app.services.db.libraryItem.deleteMany();
  await app.services.db.discardedObject.deleteMany();
  await rm(root, { recursive: true, force: true });
});

function faulty(): ObjectStore {
  return new Proxy(store, { get: (target, name) => Reflect.get(faults, name) ?? Reflect.get(target, name) });
}

function dependencies() {
  return { db: app.services.db, store: faulty(), clock, log };
}
function sweep() {
  return sweepStorage(dependencies());
}

function newKey() {
  return createObjectKey(team.id, 'library');
}

async function putObject(key = newKey()): Promise<string> {
  await store.put(key, Readable.from([Buffer.from('%PDF')]), { contentType: 'application/pdf' });
  return key;
}

function rowOf(fileKey: string, createdAt = new Date()) {
  return {
    workspaceId: team.id,
    name: 'x',
    fileKey,
    mimeType: 'application/pdf',
    size: 4,
    sha256: new Uint8Array(32),
    createdAt,
    updatedAt: createdAt,
  };
}

function addRows(...keys: string[]) {
  return app.services.db.libraryItem.createMany({ data: keys.map((key) => rowOf(key)) });
}

async function stored(): Promise<string[]> {
  return (await readAll(store.list(''))).sort();
}
function discarded() {
  return app.services.db.discardedObject.count();
}
function down() {
  return Promise.reject(new StorageUnavailableError('The store is down', undefined));
}

describe('an object without a row', () => {
  test('is removed when it is older than a day, but never if a row refers to it', async () => {
    const referenced = [await putObject(), await putObject()];
    await addRows(...referenced);
    await putObject();
    await putObject();
    ahead = DAY_MS + HOUR_MS;
    expect(await sweep()).toEqual({ objects: 4, orphans: 2, rowsWithoutObject: 0 });
    expect(await stored()).toEqual(referenced.sort());
    expect(await discarded()).toBe(0);
    expect(await sweep()).toEqual({ objects: 2, orphans: 0, rowsWithoutObject: 0 });
  });

  test('is not removed earlier, because its upload may be about to commit', async () => {
    const key = await putObject();
    for (const age of [0, HOUR_MS, DAY_MS - HOUR_MS]) {
      ahead = age;
      expect(await sweep()).toEqual({ objects: 1, orphans: 0, rowsWithoutObject: 0 });
    }
    expect(await stored()).toEqual([key]);
  });

  test('is ignored if its key does not begin with our prefix', async () => {
    const key = await putObject(`elsewhere/${randomUUID()}`);
    ahead = 2 * DAY_MS;
    expect(await sweep()).toEqual({ objects: 0, orphans: 0, rowsWithoutObject: 0 });
    expect(await stored()).toEqual([key]);
  });
});

describe('a row without an object', () => {
  test('is reported and not deleted', async () => {
    const missing = newKey();
    await addRows(missing);
    ahead = 2 * DAY_MS;
    expect(await sweep()).toEqual({ objects: 0, orphans: 0, rowsWithoutObject: 1 });
    expect(reports).toEqual([{ keys: [missing] }]);
    expect(await app.services.db.libraryItem.count()).toBe(1);
  });

  test('is not reported while it is new, because it may have been written after the listing', async () => {
    await addRows(newKey());
    expect(await sweep()).toEqual({ objects: 0, orphans: 0, rowsWithoutObject: 0 });
    expect(reports).toEqual([]);
  });
});

test('discarded objects are removed at once, whatever their age', async () => {
  const key = await putObject();
  await addRows(key);
  await app.services.db.libraryItem.deleteMany();
  expect(await discarded()).toBe(1);
  await sweep();
  expect([await stored(), await discarded()]).toEqual([[], 0]);
});

test('the store and the database are compared over many pages, whichever ends first', async () => {
  const keys = Array.from({ length: 1_600 }, newKey).sort();
  // Sequences of each kind, longer and shorter than a page of 500, then mixed ones.
  const kindOf = (index: number): 'both' | 'object' | 'row' =>
    index < 600 ? 'row' : index < 1_100 ? 'object' : ((['both', 'object', 'row'] as const)[index % 3] ?? 'both');
  const of = (...kinds: string[]) => keys.filter((_, index) => kinds.includes(kindOf(index)));
  const time = new Date();
  faults.list = async function* (): AsyncGenerator<StoredObject> {
    for (const key of of('both', 'object')) yield { key, size: 4, modifiedAt: time };
  };
  const removed: string[] = [];
  faults.remove = async (key) => void removed.push(key);
  await addRows(...of('both', 'row'));
  ahead = 2 * DAY_MS;
  expect(await sweep()).toEqual({
    objects: of('both', 'object').length,
    orphans: of('object').length,
    rowsWithoutObject: of('row').length,
  });
  expect(removed.sort()).toEqual(of('object'));
  expect(reports.flatMap(({ keys: missing }) => missing)).toEqual(of('row'));
  expect(await discarded()).toBe(0);
});

for (const count of [499, 500, 501, 1_000]) {
  test(`${count} objects with rows, around the size of a page, are not removed`, async () => {
    const keys = Array.from({ length: count }, newKey).sort();
    faults.list = async function* (): AsyncGenerator<StoredObject> {
      for (const key of keys) yield { key, size: 4, modifiedAt: new Date() };
    };
    faults.remove = () => Promise.reject(new Error('No object must be removed'));
    await addRows(...keys);
    ahead = 2 * DAY_MS;
    expect(await sweep()).toEqual({ objects: count, orphans: 0, rowsWithoutObject: 0 });
  });
}

describe('a store that fails', () => {
  test('in the middle of its listing ends the sweep, and the next one continues', async () => {
    const referenced = await putObject();
    await addRows(referenced);
    for (let count = 0; count < 5; count += 1) await putObject();
    ahead = 2 * DAY_MS;
    faults.list = async function* (prefix): AsyncGenerator<StoredObject> {
      let count = 0;
      for await (const object of store.list(prefix)) {
        count += 1;
        if (count > 3) await down();
        yield object;
      }
    };
    await expect(sweep()).rejects.toThrow(StorageUnavailableError);
    expect(await stored()).toContain(referenced);
    faults = {};
    await sweep();
    expect(await stored()).toEqual([referenced]);
  });

  test('to remove an object is asked again by the next run', async () => {
    await putObject();
    ahead = 2 * DAY_MS;
    faults.remove = down;
    expect((await sweep()).orphans).toBe(1);
    expect([(await stored()).length, await discarded()]).toEqual([1, 1]);
    faults = {};
    await removeDiscardedObjects(dependencies());
    expect([await stored(), await discarded()]).toEqual([[], 0]);
  });

  test('to remove stale uploads ends the sweep before it removes an object', async () => {
    const key = await putObject();
    ahead = 2 * DAY_MS;
    faults.removeStaleUploads = down;
    await expect(sweep()).rejects.toThrow(StorageUnavailableError);
    expect(await stored()).toEqual([key]);
  });
});

test('an upload in progress and its object without a row are not removed', async () => {
  const key = newKey();
  const source = stuckSource(3_000_000);
  const putting = store.put(key, source, { contentType: 'application/pdf' });
  await until(() => source.readableDidRead);
  ahead = DAY_MS - HOUR_MS;
  await sweep();
  source.push(null);
  await putting;
  await sweep();
  expect(await stored()).toEqual([key]);
});

test('of old unfinished data, that of 10,000 uploads in progress stays, which are looked up in pages', async () => {
  const keys = Array.from({ length: 10_000 }, newKey);
  const time = new Date();
  await app.services.db.upload.createMany({
    data: keys.map((fileKey, index) => ({
      id: `open-${index}`,
      workspaceId: team.id,
      metadata: '',
      mediaType: 'application/pdf',
      fileKey,
      createdAt: time,
      expiresAt: new Date(time.getTime() + DAY_MS),
    })),
  });
  const partials = join(root, 'partial');
  // More than a page, of which every second one has an upload.
  const files = keys
    .slice(0, 600)
    .flatMap((key) => [basename(key), randomUUID()].map((name) => `${name}.${randomUUID()}`));
  for (const file of files) await writeFile(join(partials, file), '');
  const tails = keys
    .slice(0, 600)
    .flatMap((key) => [key, newKey()].map((owner) => `${owner}${TAIL_INFIX}${randomUUID()}`));
  faults.list = async function* (): AsyncGenerator<StoredObject> {
    for (const key of tails.toSorted()) yield { key, size: 4, modifiedAt: time };
  };
  const pages: number[] = [];
  faults.removeStaleUploads = (before, find = async () => new Set()) =>
    store.removeStaleUploads(before, (names) => {
      pages.push(names.length);
      return find(names);
    });
  ahead = 2 * DAY_MS;
  expect(await sweep()).toEqual({ objects: 1_200, orphans: 600, rowsWithoutObject: 0 });
  const ofUploads = files.filter((_, index) => index % 2 === 0);
  expect((await readdir(partials)).toSorted()).toEqual(ofUploads.toSorted());
  expect(Math.max(...pages)).toBeLessThanOrEqual(500);
  await app.services.db.upload.deleteMany();
});

test('an upload that is completed while the sweep compares pages keeps its object', async () => {
  const key = await putObject();
  const time = new Date();
  const upload = { workspaceId: team.id, metadata: '', mediaType: 'application/pdf', fileKey: key, createdAt: time };
  await app.services.db.upload.create({ data: { id: 'ends', ...upload, expiresAt: time } });
  ahead = 2 * DAY_MS;
  expect((await sweep()).orphans).toBe(0);
  // It ends, and its row is removed, after the rows of the page were read.
  const db = new Proxy(app.services.db, {
    get: (target, name) =>
      name !== '$queryRaw'
        ? Reflect.get(target, name)
        : async (...call: Parameters<typeof target.$queryRaw>) => {
            const rows = await target.$queryRaw(...call);
            await app.services.db.upload.deleteMany();
            if ((await app.services.db.libraryItem.count()) === 0) await addRows(key);
            return rows;
          },
  });
  expect((await sweepStorage({ ...dependencies(), db })).orphans).toBe(0);
  expect(await stored()).toEqual([key]);
});

test('data of unfinished uploads is removed when it is older than a day', async () => {
  const before: Date[] = [];
  faults.removeStaleUploads = async (time) => void before.push(time);
  await sweep();
  expect(before).toHaveLength(1);
  expect(Math.abs(clock.now().getTime() - DAY_MS - (before[0]?.getTime() ?? 0))).toBeLessThan(60_000);
});

test('concurrent sweeps have the same result as one', async () => {
  const referenced: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    referenced.push(await putObject());
    await putObject();
  }
  await addRows(...referenced);
  ahead = 2 * DAY_MS;
  const swept = await Promise.all([sweep(), sweep(), sweep()]);
  expect(Math.max(...swept.map(({ orphans }) => orphans))).toBe(10);
  expect(swept.map(({ rowsWithoutObject }) => rowsWithoutObject)).toEqual([0, 0, 0]);
  expect([await stored(), await discarded()]).toEqual([referenced.sort(), 0]);
});

test('items deleted during a sweep are not reported, and their objects are removed', async () => {
  const keys: string[] = [];
  for (let count = 0; count < 20; count += 1) keys.push(await putObject());
  await app.services.db.libraryItem.createMany({
    data: keys.map((key) => rowOf(key, new Date(Date.now() - 3 * DAY_MS))),
  });
  ahead = 2 * DAY_MS;
  faults.list = async function* (prefix): AsyncGenerator<StoredObject> {
    yield* store.list(prefix);
    await app.services.db.libraryItem.deleteMany({ where: { fileKey: { in: keys.slice(0, 10) } } });
    await removeDiscardedObjects(dependencies());
  };
  expect((await sweep()).rowsWithoutObject).toBe(0);
  expect([await stored(), await discarded()]).toEqual([keys.slice(10).sort(), 0]);
});
