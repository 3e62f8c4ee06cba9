/**
 * The delivery queue: the next attempt of a message is a job. The job is part of the row of its message: `job_id`, with
 * its order (`queue_rank`), when it is due and the end of its lease. `queued_job_id` is the job that these columns are
 * about: a message that has got another job, or none, is not in the queue until it is added again.
 *
 * The times of the queue are those of the database, so that no clock of a server matters.
 */
import type { Database } from '../db/client.ts';
import { notify } from '../db/notify.ts';
import { onlyRow } from '../db/only-row.ts';
import type { SqlDatabase } from '../db/sql.ts';
import { bool, float, int, json, nullable, type Sql, statement, text } from '../db/statements.ts';
import { transactByIndex } from './by-index.ts';

/** The message of a job. Everything else is read when the attempt is made. */
export type DeliveryJob = { workspaceId: number; messageId: string };

/**
 * A job that is leased to this process. No other process gets it as long as this one calls `renew` in time. `complete`
 * ends it.
 */
export type Lease = { id: string; data: DeliveryJob };

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

/** NOTIFY on this channel wakes the workers. */
export const DELIVERY_CHANNEL = 'lynxroom_delivery';

/** Maximum number of concurrent attempts per webhook in each lane, across all processes. */
export const MAX_PER_WEBHOOK: Record<Lane, number> = { fast: 20, slow: 5 };

const MAX_RANK = 15;
/** The rank in the slow lane of a webhook that responds slowly but does not fail. */
const SLOW_RESPONSE_RANK = 4;

/** The first and the last `queue_rank` of each lane. */
const ranks: Record<Lane, { first: number; last: number }> = {
  fast: { first: 0, last: MAX_RANK },
  slow: { first: MAX_RANK + 1, last: 2 * MAX_RANK + 1 },
};

/** If a worker is killed, another one gets its jobs after this time. Leases are renewed four times within it. */
const LEASE_END = "now() + interval '10 s'";

/**
 * A lease need not be durable: if PostgreSQL crashes and forgets it, the job is leased again, as after the crash of a
 * worker.
 */
export const leaseSettings = statement('set-for-leasing', {
  params: {},
  returns: { settings: text },
  sql: `
    select concat(set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('enable_sort', 'off', true),
      set_config('enable_bitmapscan', 'off', true), set_config('synchronous_commit', 'off', true)) as settings`,
});

type QueuedJob = DeliveryJob & { id: string; queueRank: number; delayMs: number };
type JobRef = DeliveryJob & { id: string };

const addJobs = statement('add-delivery-jobs', {
  plansAnew: true,
  params: { jobs: json<readonly QueuedJob[]>(), channel: text },
  returns: { notified: text },
  sql: `
    with added as (
      update webhook_messages m
      set queued_job_id = j.id, queue_rank = j."queueRank", due_at = now() + j."delayMs" * interval '1 ms',
        leased_until = null
      from jsonb_to_recordset($jobs) as j (id uuid, "workspaceId" int, "messageId" text, "queueRank" int,
        "delayMs" float8)
      where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id)
    select pg_notify($channel, '')::text as notified`,
});

/** A row is in the queue. `q` is the message. */
const isQueued = "q.status = 'waiting' and q.queued_job_id is not null and q.queued_job_id = q.job_id";

/**
 * Reads each rank from its oldest due job, and only as many ranks as needed. Webhooks that have all of their leases are
 * passed over. The number of leases of a webhook is counted before the statement begins, so that two workers may
 * together exceed the limit for a moment; an advisory lock keeps them apart.
 */
const leaseJobs = statement('lease-delivery-jobs', {
  params: {
    first: int,
    last: int,
    max: int,
    perWebhook: int,
    excluded: json<readonly WebhookRef[]>(),
  },
  returns: { id: text, workspaceId: int, messageId: text },
  sql: `
    with excluded as materialized (
      select "workspaceId" as workspace_id, "webhookId" as webhook_id
      from jsonb_to_recordset($excluded) as e ("workspaceId" int, "webhookId" int)),
    active as materialized (
      select q.workspace_id, q.webhook_id, count(*) as jobs from webhook_messages q
      where ${isQueued} and q.leased_until > now() and q.queue_rank between $first and $last
      group by 1, 2),
    candidates as materialized (
      select c.* from generate_series($first, $last) as r (rank)
      cross join lateral (
        select q.workspace_id, q.webhook_id, q.id, q.queue_rank, q.due_at from webhook_messages q
        where ${isQueued} and q.queue_rank = r.rank and q.due_at <= now()
          and (q.leased_until is null or q.leased_until <= now())
          and not exists (select from excluded e
            where e.workspace_id = q.workspace_id and e.webhook_id = q.webhook_id)
          and not exists (select from active a
            where a.workspace_id = q.workspace_id and a.webhook_id = q.webhook_id and a.jobs >= $perWebhook)
        order by q.due_at limit $max for update of q skip locked) c
      limit $max),
    counted as (
      select c.workspace_id, c.id, coalesce(a.jobs, 0)
          + row_number() over (partition by c.workspace_id, c.webhook_id order by c.queue_rank, c.due_at) as number
      from candidates c left join active a on a.workspace_id = c.workspace_id and a.webhook_id = c.webhook_id),
    leased as (
      update webhook_messages m set leased_until = ${LEASE_END}
      from counted c where m.workspace_id = c.workspace_id and m.id = c.id and c.number <= $perWebhook
      returning m.job_id, m.workspace_id, m.id, m.queue_rank, m.due_at)
    select job_id::text as id, workspace_id as "workspaceId", id as "messageId" from leased
    order by queue_rank, due_at, workspace_id, leased.id`,
});

const lockLeases = statement('lock-delivery-leases', {
  params: { lane: text },
  returns: { locked: text },
  sql: "select pg_advisory_xact_lock(hashtext('webhook leases ' || $lane))::text as locked",
});

const renewLeases = statement('renew-delivery-leases', {
  plansAnew: true,
  params: { jobs: json<readonly JobRef[]>() },
  // A row that is locked is being recorded, or its webhook is being deleted: the other leases must not wait for it.
  sql: `
    with held as materialized (
      select m.workspace_id, m.id
      from jsonb_to_recordset($jobs) as j (id uuid, "workspaceId" int, "messageId" text)
      join webhook_messages m on m.workspace_id = j."workspaceId" and m.id = j."messageId"
      where m.job_id = j.id and m.queued_job_id = j.id and m.leased_until is not null
      for no key update of m skip locked)
    update webhook_messages m set leased_until = ${LEASE_END}
    from held h where m.workspace_id = h.workspace_id and m.id = h.id`,
});

/** Ends leases. A job that is complete leaves its message; the relay gives a waiting message another one. */
const endLeases = statement('end-delivery-leases', {
  plansAnew: true,
  params: { jobs: json<readonly JobRef[]>(), isComplete: bool },
  sql: `
    update webhook_messages m set leased_until = null, job_id = case when $isComplete then null else m.job_id end
    from jsonb_to_recordset($jobs) as j (id uuid, "workspaceId" int, "messageId" text)
    where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id and m.queued_job_id = j.id`,
});

const findNextJob = statement('find-next-delivery-job', {
  params: {},
  returns: { waitMs: nullable(float) },
  sql: `
    select extract(epoch from min(c.due_at) - now())::float8 * 1000 as "waitMs"
    from generate_series(0, ${ranks.slow.last}) as r (rank)
    cross join lateral (
      select greatest(q.due_at, q.leased_until) as due_at from webhook_messages q
      where ${isQueued} and q.queue_rank = r.rank order by q.due_at limit 50) c`,
});

const takeOldJobs = statement('take-pgboss-jobs', {
  params: { max: int },
  returns: { taken: int },
  writes: true,
  sql: 'select take_pgboss_jobs($max) as taken',
});

export function openDeliveryQueue({ db }: { db: Pick<Database, 'sql'> }) {
  return {
    /** Adds jobs in the transaction that changes their messages. */
    async add(sql: Sql, jobs: readonly NewJob[]): Promise<void> {
      if (jobs.length === 0) return;
      await sql.run(addJobs, {
        channel: DELIVERY_CHANNEL,
        jobs: jobs.map(({ id, workspaceId, messageId, lane, rank, delayMs }) => ({
          id,
          workspaceId,
          messageId,
          queueRank: toQueueRank({ lane, rank }),
          delayMs,
        })),
      });
    },

    /** Wakes the workers when the transaction commits. */
    async wake(sql: Sql): Promise<void> {
      await notify(sql, DELIVERY_CHANNEL);
    },

    /**
     * Leases at most `max` due jobs of a lane, none of them for the excluded webhooks. They are in the order of the
     * queue: the limit of a host lets the first ones start.
     */
    lease(sqlDb: SqlDatabase, lane: Lane, max: number, excluded: readonly WebhookRef[]): Promise<Lease[]> {
      const fetch = async (sql: Sql): Promise<Lease[]> => {
        await sql.run(lockLeases, { lane });
        const rows = await sql.run(leaseJobs, {
          ...ranks[lane],
          max,
          perWebhook: MAX_PER_WEBHOOK[lane],
          excluded,
        });
        return rows.map(({ id, ...data }) => ({ id, data }));
      };
      return transactByIndex(sqlDb, fetch, leaseSettings);
    },

    /** Renews leases. A lease that is not renewed for 10 s expires. */
    async renew(leases: readonly Lease[]): Promise<void> {
      if (leases.length > 0) await db.sql.run(renewLeases, { jobs: leases.map(toRef) });
    },

    /** Ends leased jobs, in the transaction that records what happened to their messages. */
    async complete(sql: Sql, leases: readonly Lease[]): Promise<void> {
      if (leases.length > 0) await sql.run(endLeases, { jobs: leases.map(toRef), isComplete: true });
    },

    /** Ends leases without an attempt. The jobs keep their places, and can be leased again immediately. */
    async putBack(leases: readonly Lease[]): Promise<void> {
      if (leases.length > 0) await db.sql.run(endLeases, { jobs: leases.map(toRef), isComplete: false });
    },

    /** Milliseconds until the next job can be leased; null if none waits. */
    async findNextDue(): Promise<number | null> {
      return transactByIndex(db.sql, async (sql) => onlyRow(await sql.run(findNextJob, {})).waitMs);
    },

    /** Takes jobs of a previous version, which were in the queue of pg-boss. Resolves with their number. */
    async takeOldJobs(max: number): Promise<number> {
      return onlyRow(await db.sql.run(takeOldJobs, { max })).taken;
    },
  };
}

function toRef({ id, data }: Lease): JobRef {
  return { id, ...data };
}

/** How many jobs of a lane `readLane` counts. */
const MAX_COUNTED = 20_000;

const readLaneStatement = statement('read-delivery-lane', {
  params: { first: int, last: int },
  returns: { due: int, scheduled: int, oldestSeconds: float },
  sql: `
    select count(*) filter (where due_at <= now())::int as due,
      count(*) filter (where due_at > now())::int as scheduled,
      coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8 as "oldestSeconds"
    from (
      select q.due_at from webhook_messages q
      where ${isQueued} and q.queue_rank between $first and $last and q.leased_until is null
      order by q.queue_rank, q.due_at limit ${MAX_COUNTED}) waiting`,
});

/**
 * Counts the jobs of a lane that are due now and later, in the order in which they are leased. Also returns how long
 * the oldest of them has been due.
 */
export async function readLane(sql: Sql, lane: Lane): Promise<LaneBacklog> {
  return onlyRow(await sql.run(readLaneStatement, ranks[lane]));
}

/** Returns a rank that grows with the logarithm of `count`: one rank for each doubling. */
export function toRank(count: number): number {
  return Math.min(Math.floor(Math.log2(1 + count)), MAX_RANK);
}

/** Returns the rank in the slow lane. The longer a webhook has been failing, the further back its messages are. */
export function toSlowRank(failureCount: number): number {
  return failureCount === 0 ? SLOW_RESPONSE_RANK : toRank(failureCount);
}

/** Returns the order of a job in the queue. */
export function toQueueRank({ lane, rank }: Pick<NewJob, 'lane' | 'rank'>): number {
  return ranks[lane].first + rank;
}

/** Returns a string that identifies a webhook, for use as a key. */
export function toWebhookKey({ workspaceId, webhookId }: WebhookRef): string {
  return `${workspaceId}:${webhookId}`;
}
