/**
 * Runs tasks at the times of their schedules. Each task is a row of `scheduled_tasks`, so that only one process at a
 * time runs it: the one that holds the lease.
 */
import { Cron } from 'croner';
import { inTime } from '../core/in-time.ts';
import type { Log } from '../core/log.ts';
import { MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { withSpan } from '../core/tracing.ts';
import type { Database } from '../db/client.ts';
import { int, json, statement, text, time } from '../db/statements.ts';
import { backoffMs, declareQueue, type Lease } from './lease-queue.ts';
import { startWorker, type Worker, type WorkerOptions } from './worker.ts';

/** A task that runs on a schedule. It must be safe to repeat. */
export type ScheduledJob = {
  name: string;
  /** A cron expression, in UTC. */
  cron: string;
  /**
   * Whether each process also runs the task when it starts. This run needs no lease, which a killed process could still
   * hold.
   */
  atStart?: boolean;
  run(): Promise<unknown>;
};

/** If the process that runs a task is killed, another process runs it again after this time. */
const LEASE_MS = 30 * SECOND_MS;
/** How many tasks a process runs at a time. Some take long, so that a few are not enough. */
const MAX_RUNNING = 8;
/** A task that has failed is repeated so often before its next time. */
const MAX_RETRIES = 2;
const RETRY = { firstMs: 5 * SECOND_MS, maxMs: MINUTE_MS };
const ADD_EVERY_MS = 10 * MINUTE_MS;
const STOP_TIMEOUT_MS = 10 * SECOND_MS;

const key = { name: { column: 'name', type: text } };
const columns = { failures: { column: 'failures', type: int } };
const tasks = declareQueue({
  name: 'scheduled-task',
  table: 'scheduled_tasks',
  key,
  columns,
  dueColumn: 'next_run_at',
  numberColumn: 'runs',
  nameColumn: 'name',
});

type TaskLease = Lease<typeof key, typeof columns>;

const addTasks = statement('add-scheduled-tasks', {
  params: { tasks: json<readonly { name: string; cron: string; nextRunAt: Date }[]>('json') },
  sql: `
    insert into scheduled_tasks as t (name, cron, next_run_at)
    select name, cron, "nextRunAt"
    from json_to_recordset($tasks) as n (name text, cron text, "nextRunAt" timestamptz) order by name
    on conflict (name) do update set cron = excluded.cron, next_run_at = excluded.next_run_at
    where t.cron <> excluded.cron`,
});

const removeTasks = statement('remove-scheduled-tasks', {
  params: { known: json<readonly string[]>() },
  sql: 'delete from scheduled_tasks where not $known ? name',
});

const recordRun = statement('record-run-of-task', {
  params: { name: text, attempt: int, now: time, nextRunAt: time, failures: int },
  sql: `
    update scheduled_tasks
    set leased_until = null, next_run_at = $nextRunAt, failures = $failures, last_ended_at = $now
    where name = $name and runs = $attempt`,
});

/**
 * Starts the schedule. A task that fails is logged, repeated twice, and runs again at its next time. If a run takes
 * longer than until the next time, one run follows, and the others are skipped. A run that was missed because no
 * process was running is made up for once. Rows of tasks that the schedule does not have are removed. `stop` waits for
 * running tasks, but not for long: a task that is interrupted is repeated by another process.
 */
export async function startScheduler({
  db,
  schedule,
  ...options
}: { db: Database; schedule: readonly ScheduledJob[] } & WorkerOptions): Promise<Worker> {
  const { clock, log } = options;
  const byName = new Map(schedule.map((job) => [job.name, job]));
  const only = [...byName.keys()];
  let addedAt = 0;
  /** Adds missing rows. It is repeated, because a process of an earlier version removes rows that it does not know. */
  const add = async (): Promise<void> => {
    const now = clock.now();
    if (now.getTime() < addedAt + ADD_EVERY_MS) return;
    await db.sql.run(addTasks, {
      tasks: schedule.map(({ name, cron }) => ({ name, cron, nextRunAt: nextRun(cron, now) })),
    });
    addedAt = now.getTime();
  };
  await db.sql.run(removeTasks, { known: only });
  await add();

  const worker = startWorker<TaskLease>(
    {
      name: 'schedule',
      max: MAX_RUNNING,
      leaseMs: LEASE_MS,
      lease: (limits) => tasks.lease(db.sql, { ...limits, only }),
      renew: (held, leasedUntil) => tasks.renew(db.sql, held, leasedUntil),
      async findNextDue() {
        await add();
        return tasks.findNextDue(db.sql, only);
      },
      async run({ name, attempt, failures }) {
        const job = byName.get(name);
        if (job === undefined) return;
        const startedAt = clock.now();
        const hasFailed = await runLogged(job, log).then(
          () => false,
          () => true,
        );
        const now = clock.now();
        // From the start: if the run has taken longer than until the next time, another one follows now.
        const next = nextRun(job.cron, startedAt);
        const isRetried = hasFailed && failures < MAX_RETRIES;
        const retryAt = new Date(now.getTime() + backoffMs(failures + 1, RETRY));
        await db.sql.run(recordRun, {
          name,
          attempt,
          now,
          nextRunAt: isRetried && retryAt < next ? retryAt : next,
          failures: isRetried ? failures + 1 : 0,
        });
      },
    },
    options,
  );
  const atStart = Promise.allSettled(schedule.filter((job) => job.atStart).map((job) => runLogged(job, log)));
  return {
    wake: worker.wake,
    async stop() {
      const stopped = Promise.all([worker.stop(), atStart]);
      await inTime(stopped, STOP_TIMEOUT_MS, null);
    },
  };
}

/** Returns the first time of a cron expression after `after`. */
export function nextRun(cron: string, after: Date): Date {
  const next = new Cron(cron, { timezone: 'UTC' }).nextRun(after);
  if (next === null) throw new Error(`The schedule has no next time: ${cron}`);
  return next;
}

async function runLogged({ name, run }: ScheduledJob, log: Log): Promise<void> {
  try {
    await withSpan(`job ${name}`, { parent: null }, run);
  } catch (error) {
    log.error({ err: error, job: name }, 'A job failed');
    throw error;
  }
}
