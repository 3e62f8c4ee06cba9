/** Jobs: what runs when a process starts, and that stopping waits for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startJobs } from '../../src/jobs/jobs.ts';
import { quietLog } from '../support/quiet-log.ts';
import { createDatabase } from '../support/test-app.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const never = '0 0 1 1 *';

test('jobs run at the start if they are to, others wait for their time, and stop waits for a running job', async () => {
  const seen: string[] = [];
  const jobs = await startJobs({
    connectionString: database.url,
    log: quietLog,
    schedule: [
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
    ],
  });
  expect(seen).toEqual(['started']);
  await jobs.stop();
  expect(seen).toEqual(['started', 'done']);
});

test('a job that fails at the start is logged with its name, and the service starts all the same', async () => {
  const lines: { details: object; message: string }[] = [];
  const log = { ...quietLog, error: (details: object, message: string) => lines.push({ details, message }) };
  const jobs = await startJobs({
    connectionString: database.url,
    log,
    schedule: [{ name: 'test.broken', cron: never, atStart: true, run: () => Promise.reject(new Error('broken')) }],
  });
  await jobs.stop();
  expect(lines).toMatchObject([{ details: { job: 'test.broken' }, message: 'A job failed' }]);
});
