/** The queue of webhook attempts with pg-boss, in the database of the service. */
import { PgBoss } from 'pg-boss';
import type { Log } from '../core/log.ts';
import { BoundedClient, CONNECT_TIMEOUT_MS, keepAlive } from '../db/bounded-client.ts';
import { setOnConnect } from '../db/session-settings.ts';
import { LONG_STATEMENT_MS } from '../db/time-limits.ts';

export type Jobs = {
  /** For the queue in webhook-delivery/queue.ts. */
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
export const SUPERVISE_SECONDS = 5;

/** Starts the queue. */
export async function startJobs({ connectionString, log }: { connectionString: string; log: Log }): Promise<Jobs> {
  let isStarted = false;
  const boss = new PgBoss({
    connectionString,
    application_name: 'lynxroom jobs',
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...LISTEN_CHECK,
    ...poolOptions(() => (isStarted ? STATEMENT_TIMEOUT_MS : LONG_STATEMENT_MS)),
    // `startDelivery` supervises its queue while jobs are in it.
    supervise: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    // The schedule is not that of pg-boss, but that of scheduler.ts.
    schedule: false,
  });
  boss.on('error', (error) => log.error({ err: error }, 'Job queue error'));
  // pg-boss creates or migrates its tables here, which may take a while.
  await boss.start();
  isStarted = true;
  return { boss, stop: () => boss.stop({ graceful: true, timeout: STOP_TIMEOUT_MS }) };
}

/**
 * Returns options of the pool. pg-boss passes its whole configuration to the pool, but its type declares only some of
 * these options.
 */
function poolOptions(statementMs: () => number): object {
  return { ...keepAlive, onConnect: setOnConnect(fetchPlanSettings), Client: BoundedClient, statementMs };
}
