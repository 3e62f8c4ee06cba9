/**
 * The relay: turns events of the event log into messages for the webhooks that subscribe to them, and queues a job for
 * each message. Each batch is one transaction, so that an event is relayed exactly once, however many relays run, and
 * even if one is killed.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, SECOND_MS } from '../core/time.ts';
import { type Database, type Tx, transact } from '../db/client.ts';
import { toBody } from './envelope.ts';
import { createMessageId } from './message-id.ts';
import { continueCancelling } from './pending-messages.ts';
import { type DeliveryQueue, type NewJob, toRank, toSlowRank } from './queue.ts';

const MAX_EVENTS = 500;
const MAX_MESSAGES = 1_000;
/**
 * The clocks of servers differ. With this tolerance, a webhook gets an event that happened just after it was created,
 * even if the clock of the server that created it is ahead.
 */
const CLOCK_TOLERANCE_MS = 5 * SECOND_MS;
/** The number of pending messages of a workspace above which its rank in the queue grows. */
const PENDING_UNIT = 50;
const MAX_COUNTED = 5_000;

type EventRow = { workspaceId: number; id: bigint; type: string; data: unknown; createdAt: Date };
type Subscriber = {
  workspaceId: number;
  id: number;
  events: string[];
  isSlow: boolean;
  failureCount: number;
  createdAt: Date;
};

type AddressedEvent = { event: EventRow; subscribers: Subscriber[] };

type NewMessage = {
  workspaceId: number;
  id: string;
  webhookId: number;
  jobId: string;
  eventId: string;
  event: string;
  payload: string;
};

type UnqueuedMessage = {
  workspaceId: number;
  id: string;
  webhookId: number;
  jobId: string;
  isSlow: boolean;
  failureCount: number;
};

type RelayServices = { db: Database; clock: Clock; queue: DeliveryQueue };

/**
 * Returns a function that relays one batch and resolves with true if there may be more to relay. After a failure the
 * batches are smaller, so that an event that cannot be relayed blocks few others.
 */
export function createRelay(services: RelayServices): () => Promise<boolean> {
  let max = MAX_EVENTS;
  return async () => {
    try {
      const isMore = await relayBatch(services, max);
      max = Math.min(max * 2, MAX_EVENTS);
      return isMore;
    } catch (error) {
      max = Math.max(1, Math.floor(max / 2));
      throw error;
    }
  };
}

async function relayBatch({ db, clock, queue }: RelayServices, max: number): Promise<boolean> {
  const isMore = await transact(db, async (tx) => {
    const now = clock.now();
    const events = await lockEvents(tx, max);
    const batch = events.length > 0 ? cutBatch(await addressEvents(tx, events)) : [];
    await fanOut(tx, now, queue, batch);
    if (batch.length > 0) await markRelayed(tx, now, batch);
    const queued = await queueUnqueued(tx, queue);
    return events.length === max || batch.length < events.length || queued === MAX_MESSAGES;
  });
  const isCancelling = await transact(db, (tx) => continueCancelling(tx, clock.now()));
  return isMore || isCancelling;
}

function lockEvents(tx: Tx, max: number): Promise<EventRow[]> {
  return tx.$queryRaw`
    select workspace_id as "workspaceId", id, type, data, created_at as "createdAt" from events
    where relayed_at is null order by id limit ${max} for update skip locked`;
}

/** Returns the first events whose messages together fit into one transaction, but at least one event. */
function cutBatch(addressed: readonly AddressedEvent[]): AddressedEvent[] {
  let messages = 0;
  const end = addressed.findIndex(({ subscribers }, index) => {
    messages += subscribers.length;
    return index > 0 && messages > MAX_MESSAGES;
  });
  return end === -1 ? [...addressed] : addressed.slice(0, end);
}

/** Pairs each event with the webhooks that subscribe to it and existed when it happened. */
async function addressEvents(tx: Tx, events: readonly EventRow[]): Promise<AddressedEvent[]> {
  const subscribers = Map.groupBy(
    await lockSubscribers(tx, [...new Set(events.map(({ workspaceId }) => workspaceId))]),
    ({ workspaceId }) => workspaceId,
  );
  return events.map((event) => ({
    event,
    subscribers: (subscribers.get(event.workspaceId) ?? []).filter(
      ({ events: subscribed, createdAt }) =>
        subscribed.includes(event.type) && createdAt.getTime() <= event.createdAt.getTime() + CLOCK_TOLERANCE_MS,
    ),
  }));
}

/** Returns the active webhooks of these workspaces, locked so that none is deleted before its messages are inserted. */
function lockSubscribers(tx: Tx, workspaceIds: readonly number[]): Promise<Subscriber[]> {
  return tx.$queryRaw`
    select workspace_id as "workspaceId", id, events, is_slow as "isSlow", failure_count as "failureCount",
      created_at as "createdAt" from webhooks
    where workspace_id = any(${workspaceIds}) and is_active order by workspace_id, id for key share`;
}

/**
 * Adds a message with its job for each event and subscriber. The more messages of a workspace are pending, the further
 * back its next ones are queued.
 */
async function fanOut(tx: Tx, now: Date, queue: DeliveryQueue, addressed: readonly AddressedEvent[]): Promise<void> {
  const received = addressed.filter(({ subscribers }) => subscribers.length > 0);
  if (received.length === 0) return;
  const pending = await countPending(tx, [...new Set(received.map(({ event }) => event.workspaceId))]);
  const messages: NewMessage[] = [];
  const jobs: NewJob[] = [];
  const write = async (): Promise<void> => {
    await insertMessages(tx, now, messages.splice(0));
    await queue.add(tx, jobs.splice(0));
  };
  for (const { event, subscribers } of received) {
    const { workspaceId } = event;
    const payload = toBody({ event: event.type, timestamp: event.createdAt, data: event.data });
    for (const subscriber of subscribers) {
      const [id, jobId, webhookId] = [createMessageId(now), randomUUID(), subscriber.id];
      const ahead = pending.get(workspaceId) ?? 0;
      pending.set(workspaceId, ahead + 1);
      messages.push({ workspaceId, id, webhookId, jobId, eventId: String(event.id), event: event.type, payload });
      const position = findPosition(subscriber, Math.floor(ahead / PENDING_UNIT));
      jobs.push({ id: jobId, workspaceId, webhookId, messageId: id, ...position, delayMs: 0 });
      if (messages.length === MAX_MESSAGES) await write();
    }
  }
  if (messages.length > 0) await write();
}

/** Counts the pending messages of each workspace, up to a limit. */
async function countPending(tx: Tx, workspaceIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx.$queryRaw<{ id: number; pending: number }[]>`
    select w.id, (select count(*)::int from (select from webhook_messages m
      where m.workspace_id = w.id and m.status = 'waiting' limit ${MAX_COUNTED}) c) as pending
    from unnest(${workspaceIds}::int[]) as w (id)`;
  return new Map(rows.map(({ id, pending }) => [id, pending]));
}

/**
 * Where a message is queued: in the slow lane if its webhook is slow, otherwise in the fast lane, further back if
 * `weight` is larger.
 */
function findPosition(
  { isSlow, failureCount }: { isSlow: boolean; failureCount: number },
  weight: number,
): Pick<NewJob, 'lane' | 'rank'> {
  return isSlow ? { lane: 'slow', rank: toSlowRank(failureCount) } : { lane: 'fast', rank: toRank(weight) };
}

function insertMessages(tx: Tx, now: Date, messages: readonly NewMessage[]) {
  return tx.$executeRaw`
    insert into webhook_messages
      (workspace_id, id, webhook_id, event_id, event, payload, status, job_id, next_attempt_at, created_at, updated_at)
    select m."workspaceId", m.id, m."webhookId", m."eventId", m.event, m.payload, 'waiting', m."jobId",
      ${now}, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(messages)}::json) as m
      ("workspaceId" int, id text, "webhookId" int, "eventId" bigint, event text, payload text, "jobId" uuid)`;
}

function markRelayed(tx: Tx, now: Date, batch: readonly AddressedEvent[]) {
  const keys = JSON.stringify(batch.map(({ event: { workspaceId, id } }) => ({ workspaceId, id: String(id) })));
  return tx.$executeRaw`
    update events e set relayed_at = ${now}
    from json_to_recordset(${keys}::json) as r ("workspaceId" int, id bigint)
    where e.workspace_id = r."workspaceId" and e.id = r.id`;
}

/**
 * Queues jobs for the messages that an API request has made pending: test messages and resent messages. The more resent
 * messages there are, the further back they are queued. Resolves with their number.
 */
async function queueUnqueued(tx: Tx, queue: DeliveryQueue): Promise<number> {
  const rows = await tx.$queryRaw<UnqueuedMessage[]>`
    update webhook_messages m set job_id = gen_random_uuid()
    from (select workspace_id, id from webhook_messages where status = 'waiting' and job_id is null
          order by next_attempt_at limit ${MAX_MESSAGES} for update skip locked) t, webhooks w
    where m.workspace_id = t.workspace_id and m.id = t.id and w.workspace_id = m.workspace_id and w.id = m.webhook_id
    returning m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.job_id as "jobId",
      w.is_slow as "isSlow", w.failure_count as "failureCount"`;
  const jobs = rows.map(({ workspaceId, id, webhookId, jobId, ...webhook }): NewJob => {
    return { id: jobId, workspaceId, webhookId, messageId: id, ...findPosition(webhook, rows.length - 1), delayMs: 0 };
  });
  await queue.add(tx, jobs);
  return rows.length;
}
