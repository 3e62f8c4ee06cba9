/** The delivery queue: each job is the next attempt of one message. */
import { createHash } from 'node:crypto';
import type { Db, Job, PgBoss } from 'pg-boss';
import { onlyRow } from '../db/only-row.ts';
import type { SqlDatabase } from '../db/sql.ts';
import { type Sql, statement, text } from '../db/statements.ts';
import { transactByIndex } from './by-index.ts';

/** The message of a job. Everything else is read when the attempt is made. */
export type DeliveryJob = { workspaceId: number; messageId: string };

/**
 * A job that is leased to this process. No other process gets it as long as this one calls `renew` in time. `complete`
 * removes the job.
 */
export type Lease = Job<DeliveryJob>;

export type NewJob = DeliveryJob & {
  id: string;
  webhookId: number;
  lane: Lane;
  /** The position within the lane. Rank 0 is served first. See `toRank` and `toSlowRank`. */
  rank: number;
  /** How long until the job is due; 0 means now. */
  delayMs: number;
};

/**
 * Two lanes, so that failing webhooks cannot delay the others: `fast` has the first attempts for webhooks that respond
 * quickly. `slow` has all retries, and the first attempts for webhooks that fail or respond slowly.
 */
export type Lane = 'fast' | 'slow';

export type LaneBacklog = {
  /** How many jobs are due now, and how many become due later. Counting stops at a total of 20,000. */
  due: number;
  scheduled: number;
  /** How long the oldest of the counted jobs has been due; 0 if none is. */
  oldestSeconds: number;
};

export type WebhookRef = { workspaceId: number; webhookId: number };

export type DeliveryQueue = ReturnType<typeof openDeliveryQueue>;

const QUEUE = 'webhooks.deliver';

/** NOTIFY on this channel wakes the workers. */
export const DELIVERY_CHANNEL = 'lynxroom_delivery';

/** Maximum number of concurrent attempts per webhook in each lane, across all processes. */
export const MAX_PER_WEBHOOK: Record<Lane, number> = { fast: 20, slow: 5 };

const MAX_RANK = 15;
/** The rank in the slow lane of a webhook that responds slowly but does not fail. */
const SLOW_RESPONSE_RANK = 4;

/** pg-boss serves higher priorities first. */
const topPriority: Record<Lane, number> = { fast: 0, slow: -(MAX_RANK + 1) };
const priorityRange: Record<Lane, { minPriority: number } | { maxPriority: number }> = {
  fast: { minPriority: -MAX_RANK },
  slow: { maxPriority: topPriority.slow },
};

/**
 * If a worker is killed, another one gets its jobs after this time plus the supervision interval (jobs/jobs.ts). Leases
 * are renewed four times within this time (leases.ts). The minimum in pg-boss is 10.
 */
const HEARTBEAT_SECONDS = 10;
/** How long a worker may hold a lease while the database is unreachable and nothing can be recorded. */
const EXPIRE_SECONDS = 600;
const DAY_SECONDS = 86_400;
const BATCH_STEP = 5;

const options = {
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: EXPIRE_SECONDS,
  // pg-boss deletes a job after this time, which is longer than the longest delay before an attempt.
  retentionSeconds: 30 * DAY_SECONDS,
  // Each message counts its own attempts. The queue only repeats the jobs of workers that were killed.
  retryLimit: 1_000_000,
  retryDelay: 0,
};

/** Creates the queue if it is missing, and updates the options of an existing one. */
export async function createDeliveryQueue(boss: PgBoss): Promise<void> {
  await boss.createQueue(QUEUE, { ...options, partition: true });
  await boss.updateQueue(QUEUE, options);
}

/**
 * Leasing should read the start of an index that has the right order. The statistics of a queue are often outdated, and
 * PostgreSQL may then prefer to read and sort all waiting jobs. A lease need not be durable: if PostgreSQL crashes and
 * forgets it, the job is leased again, as after the crash of a worker.
 */
export const leaseSettings = statement('set-for-leasing', {
  params: {},
  returns: { settings: text },
  sql: `
    select concat(set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('enable_sort', 'off', true),
      set_config('enable_bitmapscan', 'off', true), set_config('synchronous_commit', 'off', true)) as settings`,
});

/** The names of prepared statements, by their SQL. */
const statementNames = new Map<string, string>();

const wakeWorkers = statement('wake-delivery-workers', {
  params: { channel: text },
  returns: { notified: text },
  sql: `select pg_notify($channel, '')::text as notified`,
});

export function openDeliveryQueue(boss: PgBoss) {
  return {
    /** Adds jobs in the transaction that changes their messages. */
    async add(sql: Sql, jobs: readonly NewJob[]): Promise<void> {
      if (jobs.length === 0) return;
      await boss.insert(
        QUEUE,
        jobs.map(({ id, workspaceId, webhookId, messageId, lane, rank, delayMs }) => ({
          id,
          data: { workspaceId, messageId } satisfies DeliveryJob,
          priority: topPriority[lane] - rank,
          group: { id: toGroup({ workspaceId, webhookId }, lane) },
          // An interval, so that it follows the clock of the database, like the other times of the queue.
          startAfter: String(delayMs / 1000),
        })),
        { db: toBossDatabase(sql) },
      );
      await sql.run(wakeWorkers, { channel: DELIVERY_CHANNEL });
    },

    /** Leases at most `max` due jobs of a lane, none of them for the excluded webhooks. */
    lease(db: SqlDatabase, lane: Lane, max: number, excluded: readonly WebhookRef[]): Promise<Lease[]> {
      const fetch = (sql: Sql): Promise<Lease[]> =>
        boss.fetch<DeliveryJob>(QUEUE, {
          ...priorityRange[lane],
          // pg-boss writes the batch size into the SQL, and each distinct SQL text is prepared. Rounding the size keeps
          // the number of prepared statements small.
          batchSize: max < BATCH_STEP ? max : max - (max % BATCH_STEP),
          groupConcurrency: MAX_PER_WEBHOOK[lane],
          ignoreGroups: excluded.map((webhook) => toGroup(webhook, lane)),
          db: toBossDatabase(sql),
        });
      return transactByIndex(db, fetch, leaseSettings);
    },

    /** Renews leases. A lease that is not renewed for 10 s expires. */
    async renew(leases: readonly Lease[]): Promise<void> {
      if (leases.length > 0) await boss.touch(QUEUE, [...leases]);
    },

    /** Removes leased jobs, in the transaction that records what happened to their messages. */
    async complete(sql: Sql, leases: readonly Lease[]): Promise<void> {
      if (leases.length > 0) await boss.deleteJob(QUEUE, [...leases], { db: toBossDatabase(sql) });
    },

    /** Ends leases without an attempt. The jobs keep their places, and can be leased again immediately. */
    async putBack(leases: readonly Lease[]): Promise<void> {
      await boss.fail(
        QUEUE,
        leases.map(({ id }) => id),
      );
    },

    /** Whether there is no job, leased or waiting. */
    isEmpty(db: SqlDatabase): Promise<boolean> {
      return transactByIndex(db, async (sql) => {
        const { rows } = await toBossDatabase(sql).executeSql(
          "select from pgboss.job where name = $1 and state <= 'active' limit 1",
          [QUEUE],
        );
        return rows.length === 0;
      });
    },

    /** Gives the jobs of killed workers to others, at most once in `SUPERVISE_SECONDS` in all processes. */
    supervise: () => boss.supervise(QUEUE),

    /** Returns the IDs of the leased jobs that are not complete. */
    async findIncomplete(sql: Sql, leases: readonly Lease[]): Promise<Set<string>> {
      const ids = leases.map(({ id }) => id);
      const { rows } = await toBossDatabase(sql).executeSql(
        'select id::text from pgboss.job where name = $1 and id = any($2::uuid[])',
        [QUEUE, ids],
      );
      return new Set(rows.map(({ id }: { id: string }) => id));
    },
  };
}

/** How many jobs of a lane `readLane` counts. */
const MAX_COUNTED = 20_000;

/**
 * Counts the jobs of a lane that are due now and later, in the order in which they are leased. Also returns how long
 * the oldest of them has been due. Rejects if the queue has never been created.
 */
export async function readLane(sql: Sql, lane: Lane): Promise<LaneBacklog> {
  const isOnLane = lane === 'fast' ? 'priority >= $2' : 'priority <= $2';
  const { rows } = await toBossDatabase(sql).executeSql(
    `select count(*) filter (where start_after <= now())::int as due,
       count(*) filter (where start_after > now())::int as scheduled,
       coalesce(greatest(0, extract(epoch from now() - min(start_after))), 0)::float8 as "oldestSeconds"
     from (select start_after from pgboss.job
           where name = $1 and ${isOnLane} and state < 'active' and not blocked
           order by priority desc, created_on limit ${MAX_COUNTED}) waiting`,
    [QUEUE, lane === 'fast' ? -MAX_RANK : topPriority.slow],
  );
  return onlyRow(rows);
}

/** Lets pg-boss run its statements in our transaction. Only a few of them are distinct, so they can be prepared. */
function toBossDatabase(sql: Sql): Db {
  return {
    async executeSql(text, values = []) {
      const name = nameOf(text);
      return {
        rows: await sql.run(
          {
            name,
            text,
            params: {},
            columns: {},
            addsEvents: false,
            addsWork: false,
            writes: true,
            plansAnew: false,
            hasChanged: () => true,
            encode: () => values,
          },
          {},
        ),
      };
    },
  };
}

/** Returns the same name in every process, so that a pooler may share prepared statements. */
function nameOf(text: string): string {
  const name = statementNames.get(text) ?? `boss-${createHash('sha1').update(text).digest('base64url')}`;
  statementNames.set(text, name);
  return name;
}

/**
 * The SQL condition that the job `id` is in the queue, in any state. It reads pg-boss's own table, since pg-boss has no
 * bulk lookup.
 */
export function isQueued(id: string): string {
  return `exists (select 1 from pgboss.job j where j.name = '${QUEUE}' and j.id = ${id})`;
}

/** Returns a rank that grows with the logarithm of `count`: one rank for each doubling. */
export function toRank(count: number): number {
  return Math.min(Math.floor(Math.log2(1 + count)), MAX_RANK);
}

/** Returns the rank in the slow lane. The longer a webhook has been failing, the further back its messages are. */
export function toSlowRank(failureCount: number): number {
  return failureCount === 0 ? SLOW_RESPONSE_RANK : toRank(failureCount);
}

/** Returns a string that identifies a webhook, for use as a key. */
export function toWebhookKey({ workspaceId, webhookId }: WebhookRef): string {
  return `${workspaceId}:${webhookId}`;
}

function toGroup(webhook: WebhookRef, lane: Lane): string {
  return `${toWebhookKey(webhook)}:${lane}`;
}
