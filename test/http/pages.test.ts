/** Every list has pages and a maximum, and a batch has bounds. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countFitting } from '../../src/db/page-bytes.ts';
import { appRouter } from '../../src/routers/index.ts';
import { listOperations } from '../../src/trpc/operations.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let running = 0;
let maxRunning = 0;
beforeAll(async () => {
  app = await startTestApp({
    wrapDatabase: (db) =>
      // For queries an extended client is a client. Its type only lacks methods that are not used here.
      db.$extends({
        query: {
          async $queryRaw({ args, query }) {
            running += 1;
            maxRunning = Math.max(maxRunning, running);
            return query(args).finally(() => {
              running -= 1;
            });
          },
        },
      }) as unknown as typeof db,
  });
  team = await addTeam(app);
});
afterAll(() => app.close());

test('every operation that lists something takes limit, offset and cursor', () => {
  // These return what a constant in the code or one other row bounds.
  const bounded = ['webhooks.events', 'webhooks.catalogue', 'bookings.times', 'access.list'];
  const lists = listOperations(appRouter).filter(({ name, method }) => {
    if (method !== 'GET' || bounded.includes(name)) return false;
    return /(?:^|\.)list/.test(name) || /deliveries|messages$/i.test(name);
  });
  expect(lists.length).toBeGreaterThan(12);
  const parameters = ['limit', 'offset', 'cursor'];
  const without = lists.filter(({ fields }) => parameters.some((name) => !fields.has(name)));
  expect(without.map(({ name }) => name)).toEqual([]);
});

test('a list returns 1,000 entries, and the others by offset', async () => {
  const createdAt = app.clock.now();
  await app.services.db.label.createMany({
    data: Array.from({ length: 1_003 }, (_, index) => ({
      workspaceId: team.id,
      name: `Label ${index}`,
      color: '#123456',
      createdAt,
    })),
  });
  const list = async (query: string) =>
    (await app.http.get(`${team.path}/labels${query}`, team.member.token)).body.labels as { name: string }[];
  const all = await list('');
  expect([all.length, all[0]?.name, all.at(-1)?.name]).toEqual([1_000, 'Label 0', 'Label 999']);
  expect((await list('?offset=1000')).map(({ name }) => name)).toEqual(['Label 1000', 'Label 1001', 'Label 1002']);
  expect((await list('?limit=2&offset=1')).map(({ name }) => name)).toEqual(['Label 1', 'Label 2']);
});

/** Sends a batch of calls, each with the same input. */
async function sendBatch(names: string[], input: object) {
  const inputs = encodeURIComponent(JSON.stringify(Object.fromEntries(names.map((_, index) => [index, input]))));
  const answer = await app.http.get(`/trpc/${names.join(',')}?batch=1&input=${inputs}`, team.owner.token);
  return (answer.body as { result?: object; error?: { message: string; data: { httpStatus: number } } }[]).map(
    ({ error }) => (error ? [error.data.httpStatus, error.message] : [200, null]),
  );
}

test('at most four calls of a batch run at a time', async () => {
  maxRunning = 0;
  const results = await sendBatch(new Array(50).fill('rooms.listInWorkspace'), { id: team.id });
  expect(results).toEqual(new Array(50).fill([200, null]));
  expect(maxRunning).toBeLessThanOrEqual(4);
});

test('a batch whose results exceed 4 MiB gets 413 for the calls beyond', async () => {
  const createdAt = app.clock.now();
  await app.services.db.room.createMany({
    data: Array.from({ length: 200 }, (_, index) => ({
      workspaceId: team.id,
      userId: team.owner.id,
      name: `wide-room-${index}`,
      accentColor: '#123456',
      waitingRoomMessage: 'w'.repeat(1_000),
      createdAt,
      lastUsedAt: createdAt,
    })),
  });
  const results = await sendBatch(new Array(50).fill('rooms.listInWorkspace'), { id: team.id });
  const served = results.filter(([status]) => status === 200).length;
  // A result has about 260 kB.
  expect(served).toBeGreaterThan(10);
  expect(served).toBeLessThan(20);
  const message = 'The results of this batch are too large: send fewer calls at once';
  expect(results.filter(([status]) => status !== 200)).toEqual(new Array(50 - served).fill([413, message]));
});

test('a page of large entries ends after half a MiB, and its cursor leads to the others', async () => {
  const createdAt = app.clock.now();
  const { count } = await app.services.db.room.createMany({
    data: Array.from({ length: 400 }, (_, index) => ({
      workspaceId: team.id,
      userId: team.owner.id,
      name: `large-room-${index}`,
      accentColor: '#123456',
      waitingRoomMessage: '€'.repeat(1_000),
      createdAt,
      lastUsedAt: createdAt,
    })),
  });
  const names = new Set<string>();
  const sizes: number[] = [];
  let query = '';
  do {
    const { body } = await app.http.get(`${team.path}/rooms${query}`, team.owner.token);
    for (const { name } of body.rooms) names.add(name);
    sizes.push(Buffer.byteLength(JSON.stringify(body.rooms)));
    query = body.next_cursor && `?cursor=${body.next_cursor}`;
  } while (query);
  expect(names.size).toBe(await app.services.db.room.count({ where: { workspaceId: team.id } }));
  expect(names.size).toBeGreaterThanOrEqual(count);
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(512 * 1024);
  // Only the last page is smaller by more than one entry.
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(500 * 1024);
});

test('an entry that is larger than a page is a page, and text that becomes longer as JSON is measured as JSON', () => {
  const rows = Array.from({ length: 3 }, (_, id) => ({ id, text: '\u0000'.repeat(100), nested: [{ text: 'x' }] }));
  const bytes = Buffer.byteLength(JSON.stringify(rows[0])) + 1;
  const fitting = (max: number): number => countFitting(rows, max);
  expect([1, bytes - 1, bytes, 2 * bytes - 1, 2 * bytes, 3 * bytes].map(fitting)).toEqual([1, 1, 1, 1, 2, 3]);
  expect(countFitting([], 1)).toBe(0);
});
