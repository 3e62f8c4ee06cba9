/**
 * The delivery queue: the next attempt of a message is a job. The job is part of the row of its message: `job_id`, with
 * its order (`queue_rank`) and when it is due. `queued_job_id` is the job that these columns are about: a message that
 * has got another job, or none, is not in the queue until it is added again.
 *
 * A lease is a row of its own, with the ID of the job. In the row of the message it would cost as much as the recording
 * of the attempt, because PostgreSQL writes the whole row anew, and an entry in each of its indexes.
 *
 * The times of the queue are those of the database, so that no clock of a server matters.
 */
import type { Database } from '../db/client.ts';
import { notify } from '../db/notify.ts';
import { onlyRow } from '../db/only-row.ts';
import type { SqlDatabase } from '../db/sql.ts';
import { float, int, json, nullable, type Sql, statement, text, texts } from '../db/statements.ts';
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
      set queued_job_id = j.id, queue_rank = j."queueRank", due_at = now() + j."delayMs" * interval '1 ms'
      from jsonb_to_recordset($jobs) as j (id uuid, "workspaceId" int, "messageId" text, "queueRank" int,
        "delayMs" float8)
      where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id)
    select pg_notify($channel, '')::text as notified`,
});

/** A row is in the queue. `q` is the message. */
const isQueued = "q.status = 'waiting' and q.queued_job_id is not null and q.queued_job_id = q.job_id";

/** No worker has the job of the message `q`. */
const isFree = 'not exists (select from webhook_leases l where l.job_id = q.job_id and l.leased_until > now())';

/**
 * Reads each rank from its oldest due job, and only as many ranks as needed. Webhooks that have all of their leases are
 * passed over. The leases are read before the statement begins, so that two workers could get the same job; an advisory
 * lock keeps them apart.
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
      select l.workspace_id, l.webhook_id, count(*) as jobs from webhook_leases l
      where l.leased_until > now() and l.queue_rank between $first and $last
      group by 1, 2),
    candidates as materialized (
      select c.* from generate_series($first, $last) as r (rank)
      cross join lateral (
        select q.workspace_id, q.webhook_id, q.id, q.job_id, q.queue_rank, q.due_at from webhook_messages q
        where ${isQueued} and q.queue_rank = r.rank and q.due_at <= now() and ${isFree}
          and not exists (select from excluded e
            where e.workspace_id = q.workspace_id and e.webhook_id = q.webhook_id)
          and not exists (select from active a
            where a.workspace_id = q.workspace_id and a.webhook_id = q.webhook_id and a.jobs >= $perWebhook)
        order by q.due_at limit $max) c
      limit $max),
    counted as materialized (
      select c.*, coalesce(a.jobs, 0)
          + row_number() over (partition by c.workspace_id, c.webhook_id order by c.queue_rank, c.due_at) as number
      from candidates c left join active a on a.workspace_id = c.workspace_id and a.webhook_id = c.webhook_id),
    leased as (
      insert into webhook_leases as l (job_id, workspace_id, webhook_id, queue_rank, leased_until)
      select job_id, workspace_id, webhook_id, queue_rank, ${LEASE_END} from counted where number <= $perWebhook
      on conflict (job_id) do update set leased_until = excluded.leased_until)
    select job_id::text as id, workspace_id as "workspaceId", id as "messageId" from counted
    where number <= $perWebhook order by queue_rank, due_at, workspace_id, counted.id`,
});

const lockLeases = statement('lock-delivery-leases', {
  params: { lane: text },
  returns: { locked: text },
  sql: "select pg_advisory_xact_lock(hashtext('webhook leases ' || $lane))::text as locked",
});

const renewLeases = statement('renew-delivery-leases', {
  plansAnew: true,
  params: { ids: texts },
  // A lease that is locked is about to end. The others must not wait for it.
  sql: `
    update webhook_leases l set leased_until = ${LEASE_END}
    from (select job_id from webhook_leases where job_id = any($ids::uuid[]) for no key update skip locked) h
    where l.job_id = h.job_id`,
});

const endLeases = statement('end-delivery-leases', {
  plansAnew: true,
  params: { ids: texts },
  sql: 'delete from webhook_leases where job_id = any($ids::uuid[])',
});

/** The relay gives the messages other jobs. */
const removeJobs = statement('remove-delivery-jobs', {
  plansAnew: true,
  params: { jobs: json<readonly JobRef[]>() },
  sql: `
    update webhook_messages m set job_id = null
    from jsonb_to_recordset($jobs) as j (id uuid, "workspaceId" int, "messageId" text)
    where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id`,
});

const removeExpired = statement('remove-expired-leases', {
  params: {},
  returns: { count: int },
  sql: `
    with removed as (delete from webhook_leases where leased_until < now() - interval '1 h' returning true)
    select count(*)::int as count from removed`,
});

const findNextJob = statement('find-next-delivery-job', {
  params: {},
  returns: { waitMs: nullable(float) },
  sql: `
    select extract(epoch from min(c.due_at) - now())::float8 * 1000 as "waitMs"
    from generate_series(0, ${ranks.slow.last}) as r (rank)
    cross join lateral (
      select greatest(q.due_at, l.leased_until) as due_at
      from webhook_messages q left join webhook_leases l on l.job_id = q.job_id
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
      if (leases.length > 0) await db.sql.run(renewLeases, { ids: idsOf(leases) });
    },

    /** Ends leases, in the transaction that gave their messages other jobs or none. */
    async complete(sql: Sql, leases: readonly Lease[]): Promise<void> {
      if (leases.length > 0) await sql.run(endLeases, { ids: idsOf(leases) });
    },

    /** Ends leased jobs without an attempt. Messages that are still to be sent get other jobs. */
    async drop(sql: Sql, leases: readonly Lease[]): Promise<void> {
      if (leases.length === 0) return;
      await sql.run(removeJobs, { jobs: leases.map(({ id, data }) => ({ id, ...data })) });
      await sql.run(endLeases, { ids: idsOf(leases) });
    },

    /** Ends leases without an attempt. The jobs keep their places, and can be leased again immediately. */
    async putBack(leases: readonly Lease[]): Promise<void> {
      if (leases.length > 0) await db.sql.run(endLeases, { ids: idsOf(leases) });
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

function idsOf(leases: readonly Lease[]): string[] {
  return leases.map(({ id }) => id);
}

/** Removes leases that expired long ago, of jobs that nobody has leased again. Resolves with their number. */
export async function removeExpiredLeases(sql: Sql): Promise<number> {
  return onlyRow(await sql.run(removeExpired, {})).count;
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
      where ${isQueued} and q.queue_rank between $first and $last and ${isFree}
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
