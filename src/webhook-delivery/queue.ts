/** The queue of attempts: one job is the next attempt of one message. */
import { fromPrisma, type Job, type PgBoss } from 'pg-boss';
import { Prisma, type Tx } from '../db/client.ts';

const QUEUE = 'webhooks.deliver';

/** Which message a job is about; what else an attempt needs is read when it is made. */
export type DeliveryJob = { workspaceId: number; messageId: string };

/** A job that this process holds. It keeps it by `touch`, and gives it back by `finish`. */
export type Claim = Job<DeliveryJob>;

export type NewJob = DeliveryJob & {
  id: string;
  webhookId: number;
  lane: Lane;
  /** See `rankOf`. */
  rank: number;
  /** 0: at once. */
  delayMs: number;
};

/**
 * Two lanes, so that what goes wrong somewhere cannot stand before what goes well elsewhere: first attempts at webhooks
 * that answer quickly are `fast`; retries, and everything for webhooks that fail or dawdle, is `slow`.
 */
export type Lane = 'fast' | 'slow';

/** Where a job stands in its lane: from 0, which is served first, to this. */
const LAST_RANK = 15;

const top: Record<Lane, number> = { fast: 0, slow: -(LAST_RANK + 1) };
const bounds: Record<Lane, { minPriority: number } | { maxPriority: number }> = {
  fast: { minPriority: -LAST_RANK },
  slow: { maxPriority: top.slow },
};

/**
 * A job whose holder was killed goes to another one after this and the time until the queue is supervised again
 * (jobs/jobs.ts). Holders touch their claims four times as often (attempt-loop.ts); pg-boss takes no less than ten.
 */
const HEARTBEAT_SECONDS = 10;
/** Holds while the database does not answer and nothing can be recorded. */
const EXPIRE_SECONDS = 600;
const DAY_SECONDS = 86_400;

/** At most so many attempts at one webhook at a time in each lane, in all processes together. */
export const MAX_PER_WEBHOOK: Record<Lane, number> = { fast: 20, slow: 5 };

const DAWDLING_RANK = 4;

type WebhookName = { workspaceId: number; webhookId: number };

export type DeliveryQueue = ReturnType<typeof openDeliveryQueue>;

const options = {
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: EXPIRE_SECONDS,
  // Longer than any attempt is put off, as what is older is thrown away.
  retentionSeconds: 30 * DAY_SECONDS,
  // Attempts are counted by the message; the queue only repeats those that ended with their process.
  retryLimit: 1_000_000,
  retryDelay: 0,
};

/** What wakes the workers. */
export const DELIVERY_CHANNEL = 'lynxroom_delivery';

/** A rank that falls with the logarithm: twice as much of what counts against a job is one rank. */
export function rankOf(count: number): number {
  return Math.min(Math.floor(Math.log2(1 + count)), LAST_RANK);
}

/** In the slow lane a webhook stands the further back the longer it fails, and one that only dawdles a little back. */
export function slowRank(failureCount: number): number {
  return failureCount === 0 ? DAWDLING_RANK : rankOf(failureCount);
}

/** One text for a webhook. */
export function webhookKey({ workspaceId, webhookId }: WebhookName): string {
  return `${workspaceId}:${webhookId}`;
}

/** Makes the queue where it is missing, and gives one that is there these options. */
export async function createDeliveryQueue(boss: PgBoss): Promise<void> {
  await boss.createQueue(QUEUE, { ...options, partition: true });
  await boss.updateQueue(QUEUE, options);
}

export function openDeliveryQueue(boss: PgBoss) {
  return {
    /** Adds jobs in the transaction of what they are about. */
    async add(tx: Tx, jobs: readonly NewJob[]): Promise<void> {
      if (jobs.length === 0) return;
      await boss.insert(
        QUEUE,
        jobs.map(({ id, workspaceId, webhookId, messageId, lane, rank, delayMs }) => ({
          id,
          data: { workspaceId, messageId } satisfies DeliveryJob,
          priority: top[lane] - rank,
          group: { id: groupOf({ workspaceId, webhookId }, lane) },
          // An interval, so that it passes by the clock of the database, as the queue's own times do.
          startAfter: String(delayMs / 1000),
        })),
        { db: fromPrisma(tx) },
      );
      await tx.$queryRaw`select pg_notify(${DELIVERY_CHANNEL}, '')::text`;
    },

    /** Takes at most `most` due jobs of a lane, leaving out those webhooks. */
    claim(lane: Lane, max: number, without: readonly WebhookName[]): Promise<Claim[]> {
      return boss.fetch<DeliveryJob>(QUEUE, {
        ...bounds[lane],
        batchSize: max,
        groupConcurrency: MAX_PER_WEBHOOK[lane],
        ignoreGroups: without.map((webhook) => groupOf(webhook, lane)),
      });
    },

    /** Says that these claims are still worked on. */
    async touch(claims: readonly Claim[]): Promise<void> {
      if (claims.length > 0) await boss.touch(QUEUE, [...claims]);
    },

    /** Ends claims in the transaction that records what became of them. */
    async finish(tx: Tx, claims: readonly Claim[]): Promise<void> {
      if (claims.length > 0) await boss.deleteJob(QUEUE, [...claims], { db: fromPrisma(tx) });
    },

    /** The ids of the claims whose job has not been ended. */
    async unfinished(tx: Tx, claims: readonly Claim[]): Promise<Set<string>> {
      const ids = claims.map(({ id }) => id);
      const rows = await tx.$queryRaw<{ id: string }[]>`
      select id::text from pgboss.job where name = ${QUEUE} and id = any(${ids}::uuid[])`;
      return new Set(rows.map(({ id }) => id));
    },
  };
}

function groupOf(webhook: WebhookName, lane: Lane): string {
  return `${webhookKey(webhook)}:${lane}`;
}

/** The condition that the job `id` is in the queue, in whatever state. A look into pg-boss's own table, which has no call for many. */
export function isQueued(id: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`exists (select 1 from pgboss.job j where j.name = ${QUEUE} and j.id = ${id})`;
}
