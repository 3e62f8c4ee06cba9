/** Durable and scheduled work: pg-boss on the service's own PostgreSQL. Whichever replica gets a job runs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import type { Log } from '../core/log.ts';

/** A job that runs by the clock. It must be safe to repeat. */
export type ScheduledJob = {
  name: string;
  /** When, as a cron expression in UTC. */
  cron: string;
  /** Also by each server when it starts, without the queue: what a killed server left there cannot hold it up. */
  atStart?: boolean;
  run(): Promise<unknown>;
};

export type Jobs = {
  /** For queues beside the schedule, such as that of webhook-delivery/queue.ts. */
  boss: PgBoss;
  stop(): Promise<void>;
};

const POOL_SIZE = 4;
/**
 * A claim reads the head of an index that has its order. Where statistics lag behind, as they do in a queue, the planner
 * would rather read and sort everything that waits: 10 ms a claim instead of 0.7 with some thousand jobs.
 */
const CLAIM_PLANS = '-c enable_bitmapscan=off -c enable_sort=off -c jit=off';
const STOP_MS = 10_000;
/** How often jobs are looked for whose worker was killed. */
const SUPERVISE_SECONDS = 5;
/** A job whose server was killed is given to another after this. */
const HEARTBEAT_SECONDS = 30;

/**
 * Starts the queue with its schedules. A job that fails is logged; the queue tries it twice more, and the clock brings it
 * again.
 */
export async function startJobs(options: {
  connectionString: string;
  schedule: readonly ScheduledJob[];
  log: Log;
}): Promise<Jobs> {
  const { connectionString, schedule, log } = options;
  const boss = new PgBoss({
    connectionString,
    application_name: 'lynxroom jobs',
    max: POOL_SIZE,
    options: CLAIM_PLANS,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  boss.on('error', (error) => log.error({ err: error }, 'The job queue had an error'));
  await boss.start();
  const runLogged = async ({ name, run }: ScheduledJob): Promise<void> => {
    try {
      await run();
    } catch (error) {
      log.error({ err: error, job: name }, 'A job failed');
      throw error;
    }
  };
  try {
    // What an earlier version did by the clock and this one does not would fill the queue with nobody to work on it.
    for (const { name } of await boss.getSchedules()) {
      if (!schedule.some((job) => job.name === name)) await boss.unschedule(name);
    }
    for (const job of schedule) {
      const { name, cron } = job;
      // At most one waiting and one running: what the clock missed is not made up for.
      await boss.createQueue(name, {
        policy: 'stately',
        retryLimit: 2,
        expireInSeconds: 3_600,
        heartbeatSeconds: HEARTBEAT_SECONDS,
      });
      await boss.work(name, { pollingIntervalSeconds: 5 }, () => runLogged(job));
      await boss.schedule(name, cron, null, { tz: 'UTC' });
    }
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
  const atStart = Promise.allSettled(schedule.filter((job) => job.atStart).map(runLogged));
  return {
    boss,
    async stop() {
      await boss.stop({ graceful: true, timeout: STOP_MS });
      // Whatever takes longer goes on at the next start.
      await Promise.race([atStart, sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}
