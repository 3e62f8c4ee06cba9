/**
 * The relay: turns events of the log into messages for the webhooks that subscribe to them, and messages into jobs. All in
 * one transaction a batch, so an event is relayed exactly once however many relays run and whenever one is killed.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/time.ts';
import { type Database, type Tx, transact } from '../db/client.ts';
import { toBody } from './envelope.ts';
import { createMessageId } from './message-id.ts';
import { cancelMore } from './pending-messages.ts';
import { type DeliveryQueue, type NewJob, rankOf, slowRank } from './queue.ts';

const MAX_EVENTS = 500;
const MAX_MESSAGES = 1_000;
/** Servers' clocks differ: who registered just before an event, by another clock, gets it. */
const CLOCK_TOLERANCE_MS = 5_000;
/** So many messages of a workspace may wait before its next ones stand behind those of other workspaces. */
const WAITING_UNIT = 50;
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

type Addressed = { event: EventRow; to: Subscriber[] };

type NewMessage = {
  workspaceId: number;
  id: string;
  webhookId: number;
  jobId: string;
  eventId: string;
  event: string;
  payload: string;
};

type Unqueued = {
  workspaceId: number;
  id: string;
  webhookId: number;
  jobId: string;
  isSlow: boolean;
  failureCount: number;
};

type Relaying = { db: Database; clock: Clock; queue: DeliveryQueue };

/** As `relayOnce`, again and again: after a failure by smaller batches, so that what cannot be relayed keeps few others. */
export function createRelay(services: Relaying) {
  let max = MAX_EVENTS;
  return async (): Promise<boolean> => {
    try {
      const isMore = await relayOnce(services, max);
      max = Math.min(max * 2, MAX_EVENTS);
      return isMore;
    } catch (error) {
      max = Math.max(1, Math.floor(max / 2));
      throw error;
    }
  };
}

/** Relays one batch of at most `most` events. Resolves with whether there may be more. */
async function relayOnce({ db, clock, queue }: Relaying, max = MAX_EVENTS): Promise<boolean> {
  const isMore = await transact(db, async (tx) => {
    const now = clock.now();
    const events = await takeEvents(tx, max);
    const batch = events.length > 0 ? cutBatch(await address(tx, events)) : [];
    await fanOut(tx, now, queue, batch);
    if (batch.length > 0) await markRelayed(tx, now, batch);
    const unqueued = await queueUnqueued(tx, queue);
    return events.length === max || batch.length < events.length || unqueued === MAX_MESSAGES;
  });
  const isCancelling = await transact(db, (tx) => cancelMore(tx, clock.now()));
  return isMore || isCancelling;
}

function takeEvents(tx: Tx, max: number): Promise<EventRow[]> {
  return tx.$queryRaw`
  select workspace_id as "workspaceId", id, type, data, created_at as "createdAt" from events
  where relayed_at is null order by id limit ${max} for update skip locked`;
}

/** The first of them that make a batch: at least one, and no more messages than a transaction should have. */
function cutBatch(addressed: readonly Addressed[]): Addressed[] {
  let messages = 0;
  const end = addressed.findIndex(({ to }, index) => {
    messages += to.length;
    return index > 0 && messages > MAX_MESSAGES;
  });
  return end === -1 ? [...addressed] : addressed.slice(0, end);
}

/** For each event the webhooks that subscribe to it and were there when it happened. */
async function address(tx: Tx, events: readonly EventRow[]): Promise<Addressed[]> {
  const subscribers = Map.groupBy(
    await holdSubscribers(tx, [...new Set(events.map(({ workspaceId }) => workspaceId))]),
    ({ workspaceId }) => workspaceId,
  );
  return events.map((event) => ({
    event,
    to: (subscribers.get(event.workspaceId) ?? []).filter(
      ({ events: subscribed, createdAt }) =>
        subscribed.includes(event.type) && createdAt.getTime() <= event.createdAt.getTime() + CLOCK_TOLERANCE_MS,
    ),
  }));
}

/** Who subscribes to anything there; held, so that nobody is deleted between here and the messages' insert. */
function holdSubscribers(tx: Tx, workspaceIds: readonly number[]): Promise<Subscriber[]> {
  return tx.$queryRaw`
  select workspace_id as "workspaceId", id, events, is_slow as "isSlow", failure_count as "failureCount",
    created_at as "createdAt" from webhooks
  where workspace_id = any(${workspaceIds}) and is_active order by workspace_id, id for key share`;
}

/** One message for each event and webhook, with its job; the more of its workspace wait, the further back. */
async function fanOut(tx: Tx, now: Date, queue: DeliveryQueue, addressed: readonly Addressed[]): Promise<void> {
  const receiving = addressed.filter(({ to }) => to.length > 0);
  if (receiving.length === 0) return;
  const waiting = await countWaiting(tx, [...new Set(receiving.map(({ event }) => event.workspaceId))]);
  const messages: NewMessage[] = [];
  const jobs: NewJob[] = [];
  const write = async (): Promise<void> => {
    await insertMessages(tx, now, messages.splice(0));
    await queue.add(tx, jobs.splice(0));
  };
  for (const { event, to } of receiving) {
    const { workspaceId } = event;
    const payload = toBody({ event: event.type, timestamp: event.createdAt, data: event.data });
    for (const { id: webhookId, isSlow, failureCount } of to) {
      const [id, jobId] = [createMessageId(now), randomUUID()];
      const ahead = waiting.get(workspaceId) ?? 0;
      waiting.set(workspaceId, ahead + 1);
      messages.push({ workspaceId, id, webhookId, jobId, eventId: String(event.id), event: event.type, payload });
      const place = isSlow
        ? ({ lane: 'slow', rank: slowRank(failureCount) } as const)
        : ({ lane: 'fast', rank: rankOf(Math.floor(ahead / WAITING_UNIT)) } as const);
      jobs.push({ id: jobId, workspaceId, webhookId, messageId: id, ...place, delayMs: 0 });
      if (messages.length === MAX_MESSAGES) await write();
    }
  }
  if (messages.length > 0) await write();
}

/** How many messages of each workspace wait already, up to a bound. */
async function countWaiting(tx: Tx, workspaceIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx.$queryRaw<{ id: number; waiting: number }[]>`
    select w.id, (select count(*)::int from (select from webhook_messages m
      where m.workspace_id = w.id and m.status = 'waiting' limit ${MAX_COUNTED}) c) as waiting
    from unnest(${workspaceIds}::int[]) as w (id)`;
  return new Map(rows.map(({ id, waiting }) => [id, waiting]));
}

function insertMessages(tx: Tx, now: Date, messages: readonly NewMessage[]) {
  return tx.$executeRaw`
  insert into webhook_messages
    (workspace_id, id, webhook_id, event_id, event, payload, status, job_id, next_attempt_at, created_at, updated_at)
  select m."workspaceId", m.id, m."webhookId", m."eventId", m.event, m.payload, 'waiting', m."jobId", ${now}, ${now}, ${now}
  from json_to_recordset(${JSON.stringify(messages)}::json) as m
    ("workspaceId" int, id text, "webhookId" int, "eventId" bigint, event text, payload text, "jobId" uuid)`;
}

function markRelayed(tx: Tx, now: Date, batch: readonly Addressed[]) {
  return tx.$executeRaw`
  update events e set relayed_at = ${now}
  from json_to_recordset(${JSON.stringify(batch.map(({ event: { workspaceId, id } }) => ({ workspaceId, id: String(id) })))}::json)
    as r ("workspaceId" int, id bigint)
  where e.workspace_id = r."workspaceId" and e.id = r.id`;
}

/** Jobs for messages that a request has set waiting: tests, and what is sent again, which may be much and so stands back. */
async function queueUnqueued(tx: Tx, queue: DeliveryQueue): Promise<number> {
  const rows = await tx.$queryRaw<Unqueued[]>`
    update webhook_messages m set job_id = gen_random_uuid()
    from (select workspace_id, id from webhook_messages where status = 'waiting' and job_id is null
          order by next_attempt_at limit ${MAX_MESSAGES} for update skip locked) t, webhooks w
    where m.workspace_id = t.workspace_id and m.id = t.id and w.workspace_id = m.workspace_id and w.id = m.webhook_id
    returning m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.job_id as "jobId",
      w.is_slow as "isSlow", w.failure_count as "failureCount"`;
  const jobs = rows.map(({ workspaceId, id, webhookId, jobId, isSlow, failureCount }): NewJob => {
    const place = isSlow
      ? ({ lane: 'slow', rank: slowRank(failureCount) } as const)
      : ({ lane: 'fast', rank: rankOf(rows.length - 1) } as const);
    return { id: jobId, workspaceId, webhookId, messageId: id, ...place, delayMs: 0 };
  });
  await queue.add(tx, jobs);
  return rows.length;
}
