/** Rate limits that several processes share: how exact they are, and what happens while the database is away. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSharedCounts, type SharedCounts } from '../../src/auth/shared-counts.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { createManualTicker, type ManualTicker } from '../support/manual-ticker.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';

const MINUTE_MS = 60_000;
const SYNC_MS = 500;

type Process = { counts: SharedCounts; ticker: ManualTicker };

let app: TestApp;
const processes: Process[] = [];
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map(({ counts }) => counts.stop()));
  await app.services.db.rateLimit.deleteMany();
});
afterAll(() => app.close());

/** What counts in one process, with a time of its own. */
function startProcess(): Process {
  const ticker = createManualTicker();
  const process = { counts: createSharedCounts(app.services, ticker), ticker };
  processes.push(process);
  return process;
}

async function storedCount(key: string): Promise<number | undefined> {
  return (await app.services.db.rateLimit.findUnique({ where: { key } }))?.count;
}

/** Makes `calls` calls, and returns how many of them were admitted. */
function admit({ counts }: Process, key: string, calls: number, max: number): number {
  return Array.from({ length: calls }, () => counts.count(key, max)).filter((count) => count.calls <= max).length;
}

describe('counting in memory', () => {
  test('admits as many calls as the limit, and the rest in the next window', () => {
    const process = startProcess();
    expect(admit(process, 'a', 12, 10)).toBe(10);
    expect(process.counts.count('a', 10)).toEqual({ calls: 11, msLeft: MINUTE_MS });
    expect(admit(process, 'b', 3, 10)).toBe(3);
    process.ticker.advance(MINUTE_MS);
    expect(admit(process, 'a', 12, 10)).toBe(10);
  });

  test('reaches the other processes within half a second', async () => {
    const [one, two] = [startProcess(), startProcess()];
    expect(admit(one, 'a', 6, 10)).toBe(6);
    one.ticker.advance(SYNC_MS);
    await expect.poll(() => storedCount('a')).toBe(6);
    expect(admit(two, 'a', 1, 10)).toBe(1);
    two.ticker.advance(SYNC_MS);
    await expect.poll(() => two.counts.count('a', 0).calls).toBe(8);
    expect(admit(two, 'a', 10, 10)).toBe(3);
    two.ticker.advance(SYNC_MS);
    await expect.poll(() => storedCount('a')).toBe(10);
    expect(admit(one, 'a', 1, 10)).toBe(1);
    one.ticker.advance(SYNC_MS);
    await expect.poll(() => one.counts.count('a', 0).calls).toBe(12);
    expect(admit(one, 'a', 10, 10)).toBe(0);
  });

  test('stores nothing for calls beyond the limit, and sends nothing without calls', async () => {
    const process = startProcess();
    admit(process, 'a', 100, 10);
    process.ticker.advance(SYNC_MS);
    await expect.poll(() => storedCount('a')).toBe(10);
    const [before] = await app.services.db.$queryRaw<object[]>`select xmin::text from rate_limits where key = 'a'`;
    admit(process, 'a', 100, 10);
    process.ticker.advance(5 * SYNC_MS);
    await process.counts.stop();
    const [after] = await app.services.db.$queryRaw<object[]>`select xmin::text from rate_limits where key = 'a'`;
    expect(after).toEqual(before);
  });

  test('starts again when the window of the database has ended', async () => {
    const process = startProcess();
    admit(process, 'a', 4, 10);
    process.ticker.advance(SYNC_MS);
    await expect.poll(() => storedCount('a')).toBe(4);
    await app.services.db.$executeRaw`update rate_limits set expires_at = now() - interval '1 second'`;
    admit(process, 'a', 2, 10);
    process.ticker.advance(SYNC_MS);
    await expect.poll(() => storedCount('a')).toBe(2);
    expect(process.counts.count('a', 0).calls).toBe(3);
  });

  test('deletes windows that have ended', async () => {
    const process = startProcess();
    admit(process, 'a', 1, 10);
    admit(process, 'b', 1, 10);
    process.ticker.advance(SYNC_MS);
    await expect.poll(() => app.services.db.rateLimit.count()).toBe(2);
    await app.services.db.$executeRaw`update rate_limits set expires_at = now() - interval '1 second' where key = 'a'`;
    process.ticker.advance(MINUTE_MS);
    await expect.poll(() => app.services.db.rateLimit.findMany({ select: { key: true } })).toEqual([{ key: 'b' }]);
  });

  test('loses no call of many processes that count the same keys at once', async () => {
    const keys = Array.from({ length: 300 }, (_, index) => `key ${(index * 7) % 300}`);
    const several = Array.from({ length: 4 }, startProcess);
    for (const [index, process] of several.entries())
      for (const key of index % 2 ? keys : keys.toReversed()) admit(process, key, 2, 1_000);
    for (const { ticker } of several) ticker.advance(SYNC_MS);
    await expect
      .poll(() => app.services.db.rateLimit.aggregate({ _sum: { count: true }, _max: { count: true } }))
      .toEqual({ _sum: { count: 2_400 }, _max: { count: 8 } });
  });
});

test('counting exactly admits as many calls of all processes together as the limit', async () => {
  const several = Array.from({ length: 3 }, startProcess);
  const counted = await concurrently(60, (index) => {
    const process = several[index % several.length];
    if (!process) throw new Error('There are three processes');
    return process.counts.countExactly('a', 10);
  });
  expect(counted.filter(({ calls }) => calls <= 10)).toHaveLength(10);
});

describe('while the table cannot be used', () => {
  const outages = [
    ['is locked', 'lock table rate_limits in access exclusive mode'],
    ['does not exist', 'alter table rate_limits rename to gone'],
  ] as const;

  test.each(outages)('because it %s, each process goes on alone, and shares its counts afterwards', async (_, sql) => {
    const process = startProcess();
    const holder = new pg.Client({ connectionString: app.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query(sql);
      expect(admit(process, 'a', 12, 10)).toBe(10);
      process.ticker.advance(SYNC_MS);
      // The statement waits for the lock, in both cases, and the call does not wait for the statement.
      const counted = await Promise.all(Array.from({ length: 5 }, () => process.counts.countExactly('b', 3)));
      expect(counted.filter(({ calls }) => calls <= 3)).toHaveLength(3);
      expect(admit(process, 'a', 1, 10)).toBe(0);
      await holder.query('rollback');
    } finally {
      await holder.end();
    }
    await expect.poll(() => storedCount('a')).toBe(10);
    process.ticker.advance(SYNC_MS);
    await expect.poll(() => storedCount('b')).toBe(3);
  });

  test('it logs one line, and one when it is back', async () => {
    const process = startProcess();
    const messages = () => app.logLines.map(({ msg }) => String(msg)).filter((text) => /rate limits/.test(text));
    await app.services.db.$executeRaw`alter table rate_limits rename to gone`;
    const line = 'Failed to share rate limits: this process counts on its own';
    for (let round = 0; round < 4; round += 1) {
      admit(process, 'a', 2, 100);
      expect((await process.counts.countExactly('b', 100)).calls).toBe(round + 1);
      process.ticker.advance(SYNC_MS);
      await expect.poll(messages).toContain(line);
    }
    await app.services.db.$executeRaw`alter table gone rename to rate_limits`;
    // On a busy machine, the first statement that succeeds can have been sent in an earlier round.
    await expect
      .poll(async () => {
        process.ticker.advance(SYNC_MS);
        return [await storedCount('a'), await storedCount('b')];
      })
      .toEqual([8, 4]);
    await expect.poll(messages).toEqual([line, 'Sharing rate limits again']);
  });
});

describe('two servers on one database', () => {
  let one: TestApp;
  let two: TestApp;
  const limits = { perUser: 40, publicPerAddress: 20, signInPerEmail: 5 };
  beforeAll(async () => {
    one = await startTestApp({ limits });
    two = await startTestApp({ limits, sharedDatabase: one });
  });
  afterAll(async () => {
    await two.close();
    await one.close();
  });

  /** Calls both servers until both refuse, and returns how many calls they admitted. */
  async function exhaust(call: (server: TestApp) => Promise<number>): Promise<number> {
    let admitted = 0;
    for (let refused = 0; refused < 20; ) {
      const statuses = await Promise.all([one, two].map(call));
      for (const status of statuses) expect([200, 404, 429]).toContain(status);
      admitted += statuses.filter((status) => status !== 429).length;
      refused = statuses.every((status) => status === 429) ? refused + 1 : 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return admitted;
  }

  test.each([
    ['calls of a user', 40, (person: Person) => (app: TestApp) => app.http.get('/api/auth/me', person.token)],
    ['calls that name nothing', 40, () => (app: TestApp) => app.http.get('/api/dashboard/generate-name')],
    ['misses', 20, () => (app: TestApp) => app.http.get('/api/rooms/no-such-room')],
  ] as const)('share the limit of %s, and admit at most those of half a second too many', async (_, max, callAs) => {
    const call = callAs(await addPerson(one));
    const admitted = await exhaust(async (server) => (await call(server)).status);
    expect(admitted).toBeGreaterThanOrEqual(max);
    // Without sharing it would be twice the limit.
    expect(admitted).toBeLessThan(2 * max);
  });

  test('admit exactly as many sign-ins as the limit', async () => {
    const { email } = await addPerson(one);
    const json = { email, password: 'wrong password' };
    const answers = await concurrently(24, (index) =>
      (index % 2 ? one : two).http.post('/api/auth/login', undefined, json),
    );
    expect(countStatuses(answers)).toEqual({ 401: 5, 429: 19 });
    // The table names no address.
    const rows = await one.services.db.rateLimit.findMany();
    expect(JSON.stringify(rows)).not.toContain('@');
    expect((await one.http.post('/api/auth/login', undefined, { email, password: PASSWORD })).status).toBe(429);
  });
});
