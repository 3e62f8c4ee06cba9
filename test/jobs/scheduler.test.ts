/** The scheduler: when tasks run, in which process, and what follows a failure or the end of a process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { nextRun, type ScheduledJob, startScheduler } from '../../src/jobs/scheduler.ts';
import type { Worker } from '../../src/jobs/worker.ts';
import { eventually } from '../support/eventually.ts';
import { createManualTicker } from '../support/manual-ticker.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const never = '0 0 1 1 *';
const everyMinute = '* * * * *';
const LEASE_MS = 30 * SECOND_MS;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-03-01T10:00:30Z') });
});
afterAll(() => app.close());

let started: Worker[] = [];
afterEach(async () => {
  await Promise.all(started.map((scheduler) => scheduler.stop()));
  started = [];
  await app.services.db.scheduledTask.deleteMany();
});

/** Starts the scheduler of a process. One that is frozen renews no lease, as if it had been killed. */
async function start(schedule: ScheduledJob[], { isFrozen = false } = {}): Promise<Worker> {
  const ticker = isFrozen ? { ticker: createManualTicker() } : {};
  const scheduler = await startScheduler({ ...app.services, schedule, ...ticker });
  if (!isFrozen) started.push(scheduler);
  return scheduler;
}

/** Moves the clock, and lets the schedulers look at it. */
function advance(ms: number, ...schedulers: Worker[]): void {
  app.clock.advance(ms);
  for (const scheduler of schedulers) scheduler.wake();
}

function readTask(name: string) {
  return app.services.db.scheduledTask.findUniqueOrThrow({ where: { name } });
}

/** Waits until no process runs the task. */
function untilEnded(name: string, runs: number) {
  return eventually(async () => {
    const task = await readTask(name);
    return task.runs === runs && task.leasedUntil === null && task;
  });
}

test('tasks run at the start if they are to, others wait, and stop waits for a running one', async () => {
  const seen: string[] = [];
  const scheduler = await start([
    {
      name: 'test.at-start',
      cron: never,
      atStart: true,
      run: async () => {
        seen.push('started');
        await sleep(50);
        seen.push('done');
      },
    },
    { name: 'test.later', cron: never, run: async () => seen.push('later') },
  ]);
  expect(seen).toEqual(['started']);
  await scheduler.stop();
  expect(seen).toEqual(['started', 'done']);
});

test('a task that fails at the start is logged with its name, and the service starts all the same', async () => {
  const before = app.logLines.length;
  const run = () => Promise.reject(new Error('broken'));
  const scheduler = await start([{ name: 'test.broken', cron: never, atStart: true, run }]);
  await scheduler.stop();
  expect(app.logLines.slice(before)).toMatchObject([{ job: 'test.broken', msg: 'A job failed' }]);
});

test('a task runs once at each of its times, in one of the processes', async () => {
  let runs = 0;
  const count = async () => {
    runs += 1;
  };
  const schedule = [{ name: 'test.minute', cron: everyMinute, run: count }];
  const schedulers = [await start(schedule), await start(schedule), await start(schedule)];
  for (let minute = 1; minute <= 3; minute += 1) {
    advance(MINUTE_MS, ...schedulers);
    const { nextRunAt } = await untilEnded('test.minute', minute);
    expect(nextRunAt).toEqual(nextRun(everyMinute, app.clock.now()));
  }
  expect(runs).toBe(3);
});

test('a run that was missed is made up for once', async () => {
  let runs = 0;
  const count = async () => {
    runs += 1;
  };
  const schedule = [{ name: 'test.minute', cron: everyMinute, run: count }];
  await (await start(schedule)).stop();
  app.clock.advance(60 * MINUTE_MS);
  await start(schedule);
  await untilEnded('test.minute', 1);
  expect(runs).toBe(1);
});

test('the task of a killed process runs elsewhere after 30 seconds, and the first records nothing', async () => {
  const hanging = Promise.withResolvers<void>();
  const seen: string[] = [];
  const task = (who: string, run?: () => Promise<void>): ScheduledJob[] => [
    {
      name: 'test.minute',
      cron: everyMinute,
      run: () => {
        seen.push(who);
        return run?.() ?? Promise.resolve();
      },
    },
  ];
  const killed = await start(
    task('killed', () => hanging.promise),
    { isFrozen: true },
  );
  advance(MINUTE_MS, killed);
  await eventually(async () => seen.length === 1);
  const other = await start(task('other'));
  advance(LEASE_MS - 1, other);
  expect(await app.services.db.scheduledTask.count({ where: { runs: 1 } })).toBe(1);
  advance(1, other);
  const { nextRunAt } = await untilEnded('test.minute', 2);
  expect(seen).toEqual(['killed', 'other']);
  hanging.resolve();
  await killed.stop();
  expect((await readTask('test.minute')).nextRunAt).toEqual(nextRunAt);
});

test('a task that fails is repeated twice, and then runs at its next time', async () => {
  const run = () => Promise.reject(new Error('broken'));
  const scheduler = await start([{ name: 'test.hourly', cron: '0 * * * *', run }]);
  advance(60 * MINUTE_MS, scheduler);
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const { failures, nextRunAt } = await untilEnded('test.hourly', attempt);
    expect(failures).toBe(attempt);
    advance(nextRunAt.getTime() - app.clock.now().getTime(), scheduler);
  }
  const { failures, nextRunAt } = await untilEnded('test.hourly', 3);
  expect([failures, nextRunAt]).toEqual([0, nextRun('0 * * * *', app.clock.now())]);
});

test('a task that is removed loses its row, and one with a new expression gets a new time', async () => {
  const run = async () => {};
  await start([
    { name: 'test.kept', cron: never, run },
    { name: 'test.changed', cron: never, run },
    { name: 'test.removed', cron: never, run },
  ]);
  await start([
    { name: 'test.kept', cron: never, run },
    { name: 'test.changed', cron: everyMinute, run },
  ]);
  const rows = await app.services.db.scheduledTask.findMany({ orderBy: { name: 'asc' } });
  expect(rows.map(({ name, nextRunAt }) => [name, nextRunAt])).toEqual([
    ['test.changed', nextRun(everyMinute, app.clock.now())],
    ['test.kept', nextRun(never, app.clock.now())],
  ]);
});
