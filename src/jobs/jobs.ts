/** Durable and scheduled work: pg-boss on the service's own PostgreSQL. Whichever replica gets a job runs it. */
import { PgBoss } from 'pg-boss';
import type { Log } from '../core/log.ts';

/** A job that runs by the clock. It must be safe to repeat. */
export type ScheduledJob = {
  name: string;
  /** When, as a cron expression in UTC. */
  cron: string;
  run(): Promise<unknown>;
};

export type Jobs = { stop(): Promise<void> };

const POOL_SIZE = 3;
const STOP_MS = 10_000;

/** Starts the queue with its schedules. A job that fails is logged, tried twice more, and comes again by the clock. */
export const startJobs = async (options: {
  connectionString: string;
  schedule: readonly ScheduledJob[];
  log: Log;
}): Promise<Jobs> => {
  const { connectionString, schedule, log } = options;
  const boss = new PgBoss({ connectionString, application_name: 'lynxroom jobs', max: POOL_SIZE });
  boss.on('error', (error) => log.error({ err: error }, 'The job queue had an error'));
  await boss.start();
  for (const { name, cron, run } of schedule) {
    // At most one waiting and one running: what the clock missed is not made up for.
    await boss.createQueue(name, { policy: 'stately', retryLimit: 2, expireInSeconds: 3_600 });
    await boss.work(name, { pollingIntervalSeconds: 5 }, async () => {
      try {
        await run();
      } catch (error) {
        log.error({ err: error, job: name }, 'A job failed');
        throw error;
      }
    });
    await boss.schedule(name, cron, null, { tz: 'UTC' });
  }
  return {
    stop: () => boss.stop({ graceful: true, timeout: STOP_MS }),
  };
};
