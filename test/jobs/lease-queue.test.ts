/** The queue of leased rows, on a table of its own: kills, expiry, fairness, order, back-off and bounds. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MINUTE_MS, SAFETY_POLL_MS, SECOND_MS } from '../../src/core/time.ts';
import { int, text } from '../../src/db/statements.ts';
import { backoffMs, declareQueue, type Lease } from '../../src/jobs/lease-queue.ts';
import { LeaseLost, runDue, startWorker, toPause, type Work, type Worker } from '../../src/jobs/worker.ts';
import { eventually } from '../support/eventually.ts';
import { createManualTicker } from '../support/manual-ticker.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const key = { workspaceId: { column: 'workspace_id', type: int }, id: { column: 'id', type: int } };
const columns = { subject: { column: 'subject', type: text } };
const options = { table: 'test_work', key, columns };
const queue = declareQueue({ name: 'test-work', fairBy: 'workspace_id', ...options });
/** Rows of a subject one after another. */
const ordered = declareQueue({
  name: 'test-work-in-order',
  where: 'not exists (select from test_work e where e.subject = q.subject and e.id < q.id)',
  ...options,
});

type Held = Lease<typeof key, typeof columns>;

const LEASE_MS = 20 * SECOND_MS;

let app: TestApp;
const workers: Worker[] = [];
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-03-01T10:00:00Z') });
  await app.services.db.$executeRawUnsafe(`
    create table test_work (workspace_id int, id int, subject text not null, next_attempt_at timestamptz(3),
      leased_until timestamptz(3), attempts int not null default 0, primary key (workspace_id, id))`);
});
afterAll(() => app.close());
beforeEach(() => app.services.db.$executeRawUnsafe('delete from test_work'));
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

/** Adds rows that are due now, one after another. */
async function add(...rows: { workspaceId?: number; id: number; subject?: string }[]): Promise<void> {
  for (const { workspaceId = 1, id, subject = `subject ${id}` } of rows)
    await app.services.db.$executeRawUnsafe(
      'insert into test_work (workspace_id, id, subject, next_attempt_at) values ($1, $2, $3, $4)',
      workspaceId,
      id,
      subject,
      new Date(app.clock.now().getTime() - 1_000 + id),
    );
}

async function lease(max: number, from = queue): Promise<Held[]> {
  const now = app.clock.now();
  return from.lease(app.services.db.sql, { now, leasedUntil: new Date(now.getTime() + LEASE_MS), max });
}

async function remove({ workspaceId, id, attempt }: Held): Promise<number> {
  const sql = 'delete from test_work where workspace_id = $1 and id = $2 and attempts = $3';
  return app.services.db.$executeRawUnsafe(sql, workspaceId, id, attempt);
}

function createWork(run: Work<Held>['run'], from = queue, max = 4): Work<Held> {
  const { sql } = app.services.db;
  return {
    name: 'test work',
    max,
    leaseMs: LEASE_MS,
    lease: (limits) => from.lease(sql, limits),
    renew: (held, leasedUntil) => from.renew(sql, held, leasedUntil),
    findNextDue: () => from.findNextDue(sql),
    run,
  };
}

/** Starts a worker. One with a ticker of its own renews no lease until the test says so. */
function start(run: Work<Held>['run'], { ticker = createManualTicker(), max = 4 } = {}): Worker {
  const worker = startWorker(createWork(run, queue, max), { ...app.services, ticker });
  workers.push(worker);
  return worker;
}

const ids = (leases: readonly Held[]) => leases.map(({ id }) => id).sort((a, b) => a - b);

describe('a lease', () => {
  test('is given once, however many processes ask', async () => {
    await add({ id: 1 }, { id: 2 }, { id: 3 });
    const leases = await Promise.all(Array.from({ length: 8 }, () => lease(2)));
    expect(ids(leases.flat())).toEqual([1, 2, 3]);
    expect(await lease(2)).toEqual([]);
  });

  test('of a killed process expires, and the process that comes back changes nothing', async () => {
    await add({ id: 1 });
    const [killed] = await lease(1);
    app.clock.advance(LEASE_MS - 1);
    expect(await lease(1)).toEqual([]);
    app.clock.advance(1);
    const [second] = await lease(1);
    expect([killed?.attempt, second?.attempt]).toEqual([1, 2]);
    if (!killed || !second) throw new Error('No lease');
    const { sql } = app.services.db;
    const later = new Date(app.clock.now().getTime() + LEASE_MS);
    expect(await queue.renew(sql, [killed, second], later)).toEqual([second]);
    await queue.release(sql, killed, app.clock.now());
    expect(await lease(1)).toEqual([]);
    await queue.release(sql, second, app.clock.now());
    expect(await lease(1)).toHaveLength(1);
  });

  test('of a row that another transaction has locked is not waited for', async () => {
    await add({ id: 1 }, { id: 2 });
    await app.services.db.sql.transact(async (sql) => {
      const now = app.clock.now();
      await queue.lease(sql, { now, leasedUntil: now, max: 1 });
      expect(ids(await lease(5))).toEqual([2]);
    });
  });
});

test('one workspace with many rows does not keep the others waiting', async () => {
  await add(...Array.from({ length: 20 }, (_, index) => ({ workspaceId: 1, id: index })));
  await add({ workspaceId: 2, id: 100 }, { workspaceId: 3, id: 101 });
  const leased = [...(await lease(1)), ...(await lease(1)), ...(await lease(1))];
  expect(leased.map(({ workspaceId }) => workspaceId)).toEqual([2, 3, 1]);
});

test('rows of a subject are worked on in their order, and others beside them', async () => {
  await add({ id: 1, subject: 'a' }, { id: 2, subject: 'a' }, { id: 3, subject: 'b' });
  const seen: number[] = [];
  const work = createWork(async (held) => {
    seen.push(held.id);
    await remove(held);
  }, ordered);
  expect(await runDue(work, app.services)).toBe(2);
  expect(await runDue(work, app.services)).toBe(1);
  expect(seen).toEqual([1, 3, 2]);
});

test('a batch and the number of rows at a time have a bound', async () => {
  await add(...Array.from({ length: 10 }, (_, id) => ({ id })));
  let running = 0;
  let max = 0;
  const ended = Promise.withResolvers<void>();
  start(
    async (held) => {
      running += 1;
      max = Math.max(max, running);
      await ended.promise;
      running -= 1;
      await remove(held);
    },
    { max: 3 },
  );
  await eventually(async () => running === 3);
  expect(await lease(20)).toHaveLength(7);
  ended.resolve();
  await eventually(async () => running === 0);
  expect(max).toBe(3);
});

describe('a worker', () => {
  test('renews its leases as long as it works, in one statement', async () => {
    await add({ id: 1 }, { id: 2 });
    const ended = Promise.withResolvers<void>();
    const ticker = createManualTicker();
    let running = 0;
    start(
      async (held) => {
        running += 1;
        await ended.promise;
        await remove(held);
      },
      { ticker },
    );
    await eventually(async () => running === 2);
    for (let round = 0; round < 4; round += 1) {
      app.clock.advance(LEASE_MS / 2);
      ticker.advance(LEASE_MS / 2);
      const until = app.clock.now().getTime() + LEASE_MS;
      await eventually(async () => {
        const dueAt = await queue.findNextDue(app.services.db.sql);
        return dueAt?.getTime() === until;
      });
      expect(await lease(2)).toEqual([]);
    }
    ended.resolve();
  });

  test('is told that another process has its row', async () => {
    await add({ id: 1 });
    const ticker = createManualTicker();
    const lost = Promise.withResolvers<unknown>();
    let isRunning = false;
    start(
      async (_, signal) => {
        isRunning = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        lost.resolve(signal.reason);
      },
      { ticker },
    );
    await eventually(async () => isRunning);
    app.clock.advance(LEASE_MS);
    expect(await lease(1)).toHaveLength(1);
    ticker.advance(LEASE_MS);
    expect(await lost.promise).toBeInstanceOf(LeaseLost);
  });

  test('works on a row again that is due later, and on those of a killed process', async () => {
    await add({ id: 1 });
    await lease(1);
    const seen: number[] = [];
    const worker = start(async (held) => {
      seen.push(held.attempt);
      const later = new Date(app.clock.now().getTime() + MINUTE_MS);
      if (held.attempt < 4) await queue.release(app.services.db.sql, held, later);
      else await remove(held);
    });
    app.clock.advance(LEASE_MS);
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      worker.wake();
      const dueAt = attempt < 4 ? app.clock.now().getTime() + MINUTE_MS : undefined;
      await eventually(async () => (await queue.findNextDue(app.services.db.sql))?.getTime() === dueAt);
      app.clock.advance(MINUTE_MS);
    }
    expect(seen).toEqual([2, 3, 4]);
  });

  test('goes on after an error, and leaves the row to the next lease', async () => {
    await add({ id: 1 });
    expect(
      await runDue(
        createWork(() => Promise.reject(new Error('broken'))),
        app.services,
      ),
    ).toBe(1);
    expect(await lease(1)).toEqual([]);
    app.clock.advance(LEASE_MS);
    expect(await lease(1)).toHaveLength(1);
  });
});

test('the delay doubles up to its maximum', () => {
  const delays = [1, 2, 3, 4, 5, 100].map((attempt) => backoffMs(attempt, { firstMs: 5, maxMs: 60 }));
  expect(delays).toEqual([5, 10, 20, 40, 60, 60]);
});

test('a worker waits until the next row is due, at least a second and at most half a minute', () => {
  const at = (ms: number) => toPause(new Date(app.clock.now().getTime() + ms), app.clock);
  expect([at(-5_000), at(0), at(7_000), at(90_000), toPause(null, app.clock)]).toEqual([
    1_000,
    1_000,
    7_000,
    SAFETY_POLL_MS,
    SAFETY_POLL_MS,
  ]);
});
