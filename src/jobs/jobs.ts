/** Durable and scheduled jobs with pg-boss, in the database of the service. Each job runs in only one process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import type { Log } from '../core/log.ts';
import { withSpan } from '../core/tracing.ts';
import { BoundedClient, CONNECT_TIMEOUT_MS, keepAlive } from '../db/bounded-client.ts';
import { setOnConnect } from '../db/session-settings.ts';
import { LONG_STATEMENT_MS } from '../db/time-limits.ts';

/** A job that runs on a schedule. It must be safe to repeat. */
export type ScheduledJob = {
  name: string;
  /** A cron expression, in UTC. */
  cron: string;
  /**
   * Whether each process also runs the job at startup. This run bypasses the queue, where an unfinished job of a killed
   * process could block it.
   */
  atStart?: boolean;
  run(): Promise<unknown>;
};

export type Jobs = {
  /** For queues other than those of scheduled jobs, such as the queue in webhook-delivery/queue.ts. */
  boss: PgBoss;
  stop(): Promise<void>;
};

const POOL_SIZE = 4;
/**
 * Settings that make PostgreSQL fetch a job from the head of an index that is already in the right order. Without them,
 * the planner would read and sort all waiting jobs when statistics are outdated, as is common for a queue. With a few
 * thousand jobs, that takes 10 ms instead of 0.7 ms.
 */
const fetchPlanSettings = { enable_bitmapscan: 'off', enable_sort: 'off', jit: 'off', TimeZone: 'UTC' };
const STATEMENT_TIMEOUT_MS = 10_000;
/** Detects the loss of the listening connection within 5 seconds. */
const LISTEN_CHECK = { notifyHeartbeatIntervalMs: 2_000, notifyHeartbeatTimeoutMs: 3_000 };
const STOP_TIMEOUT_MS = 10_000;
/** How often the queue looks for jobs whose worker was killed. */
const SUPERVISE_SECONDS = 5;
/** If the process of a job is killed, another process takes the job after this time. */
const HEARTBEAT_SECONDS = 30;

/**
 * Starts the queue and its schedule. A failed job is logged, retried twice, and runs again at its next scheduled time.
 */
export async function startJobs(options: {
  connectionString: string;
  schedule: readonly ScheduledJob[];
  log: Log;
}): Promise<Jobs> {
  const { connectionString, schedule, log } = options;
  let isStarted = false;
  const boss = new PgBoss({
    connectionString,
    application_name: 'lynxroom jobs',
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...LISTEN_CHECK,
    ...poolOptions(() => (isStarted ? STATEMENT_TIMEOUT_MS : LONG_STATEMENT_MS)),
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  boss.on('error', (error) => log.error({ err: error }, 'Job queue error'));
  // pg-boss creates or migrates its tables here, which may take a while.
  await boss.start();
  isStarted = true;
  const runLogged = async ({ name, run }: ScheduledJob): Promise<void> => {
    try {
      await withSpan(`job ${name}`, { parent: null }, run);
    } catch (error) {
      log.error({ err: error, job: name }, 'A job failed');
      throw error;
    }
  };
  try {
    // Schedules left behind by an earlier version would fill the queue with jobs that no process runs.
    for (const { name } of await boss.getSchedules()) {
      if (!schedule.some((job) => job.name === name)) await boss.unschedule(name);
    }
    for (const job of schedule) {
      const { name, cron } = job;
      // At most one job waits and one job runs. Missed runs are skipped.
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
      await boss.stop({ graceful: true, timeout: STOP_TIMEOUT_MS });
      // A job that takes longer is interrupted, and runs again at the next start.
      await Promise.race([atStart, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/**
 * Returns options of the pool. pg-boss passes its whole configuration to the pool, but its type declares only some of
 * these options.
 */
function poolOptions(statementMs: () => number): object {
  return { ...keepAlive, onConnect: setOnConnect(fetchPlanSettings), Client: BoundedClient, statementMs };
}
