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
  /** Which lane it waits in; see `Lane`. */
  lane: Lane;
  /** 0: at once. */
  delayMs: number;
};

/**
 * Two lanes, so that what goes wrong somewhere cannot stand before what goes well elsewhere: first attempts at webhooks
 * that answer quickly are `fast`; retries, and everything for webhooks that fail or dawdle, is `slow`.
 */
export type Lane = 'fast' | 'slow';

const priorities: Record<Lane, number> = { fast: 0, slow: -1 };
const bounds: Record<Lane, { minPriority: number } | { maxPriority: number }> = {
  fast: { minPriority: priorities.fast },
  slow: { maxPriority: priorities.slow },
};

/**
 * A job whose holder was killed goes to another one after this and the time until the queue is supervised again
 * (jobs/jobs.ts). Holders touch their claims four times as often (attempt-loop.ts); pg-boss takes no less than ten.
 */
const HEARTBEAT_SECONDS = 10;
/** Holds while the database does not answer and nothing can be recorded. */
const EXPIRE_SECONDS = 600;
const DAY_SECONDS = 86_400;

/** At most so many attempts at one webhook at a time, in all processes together. */
export const MOST_PER_WEBHOOK = 20;

/** One text for a webhook. */
export const webhookKey = (workspaceId: number, webhookId: number): string => `${workspaceId}:${webhookId}`;

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

/** Makes the queue where it is missing, and gives one that is there these options. */
export const createDeliveryQueue = async (boss: PgBoss): Promise<void> => {
  await boss.createQueue(QUEUE, { ...options, partition: true });
  await boss.updateQueue(QUEUE, options);
};

export const openDeliveryQueue = (boss: PgBoss) => ({
  /** Adds jobs in the transaction of what they are about. */
  async add(tx: Tx, jobs: readonly NewJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await boss.insert(
      QUEUE,
      jobs.map(({ id, workspaceId, webhookId, messageId, lane, delayMs }) => ({
        id,
        data: { workspaceId, messageId } satisfies DeliveryJob,
        priority: priorities[lane],
        group: { id: webhookKey(workspaceId, webhookId) },
        // An interval, so that it passes by the clock of the database, as the queue's own times do.
        startAfter: String(delayMs / 1000),
      })),
      { db: fromPrisma(tx) },
    );
    await tx.$queryRaw`select pg_notify(${DELIVERY_CHANNEL}, '')::text`;
  },

  /** Takes at most `most` due jobs of a lane, leaving out those webhooks. */
  claim(lane: Lane, most: number, without: readonly { workspaceId: number; webhookId: number }[]): Promise<Claim[]> {
    return boss.fetch<DeliveryJob>(QUEUE, {
      ...bounds[lane],
      batchSize: most,
      groupConcurrency: MOST_PER_WEBHOOK,
      ignoreGroups: without.map(({ workspaceId, webhookId }) => webhookKey(workspaceId, webhookId)),
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
});

/** The condition that the job `id` is in the queue, in whatever state. A look into pg-boss's own table, which has no call for many. */
export const isQueued = (id: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`exists (select 1 from pgboss.job j where j.name = ${QUEUE} and j.id = ${id})`;

/** What wakes the workers. */
export const DELIVERY_CHANNEL = 'lynxroom_delivery';
