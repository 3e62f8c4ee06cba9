/**
 * The relay: turns events of the log into messages for the webhooks that subscribe to them, and messages into jobs. All in
 * one transaction a batch, so an event is relayed exactly once however many relays run and whenever one is killed.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/time.ts';
import { type Database, type Tx, transact } from '../db/client.ts';
import { toBody } from './envelope.ts';
import { createMessageId } from './message-id.ts';
import type { DeliveryQueue, NewJob } from './queue.ts';

const MOST_EVENTS = 500;
const MOST_MESSAGES = 1_000;

type EventRow = { workspaceId: number; id: bigint; type: string; data: unknown; createdAt: Date };
type Subscriber = { workspaceId: number; id: number; events: string[]; isSlow: boolean; createdAt: Date };

const takeEvents = (tx: Tx): Promise<EventRow[]> => tx.$queryRaw`
  select workspace_id as "workspaceId", id, type, data, created_at as "createdAt" from events
  where relayed_at is null order by id limit ${MOST_EVENTS} for update skip locked`;

/** Who subscribes to anything there; held, so that nobody is deleted between here and the messages' insert. */
const holdSubscribers = (tx: Tx, workspaceIds: readonly number[]): Promise<Subscriber[]> => tx.$queryRaw`
  select workspace_id as "workspaceId", id, events, is_slow as "isSlow", created_at as "createdAt" from webhooks
  where workspace_id = any(${workspaceIds}) and is_active order by workspace_id, id for key share`;

type NewMessage = { workspaceId: number; id: string; webhookId: number; jobId: string };

type Addressed = { event: EventRow; to: Subscriber[] };

/** For each event the webhooks that subscribe to it and were there when it happened. */
const address = async (tx: Tx, events: readonly EventRow[]): Promise<Addressed[]> => {
  const subscribers = Map.groupBy(
    await holdSubscribers(tx, [...new Set(events.map(({ workspaceId }) => workspaceId))]),
    ({ workspaceId }) => workspaceId,
  );
  return events.map((event) => ({
    event,
    to: (subscribers.get(event.workspaceId) ?? []).filter(
      ({ events: subscribed, createdAt }) => subscribed.includes(event.type) && createdAt <= event.createdAt,
    ),
  }));
};

/** The first of them that make a batch: at least one, and no more messages than a transaction should have. */
const cutBatch = (addressed: readonly Addressed[]): Addressed[] => {
  let messages = 0;
  const end = addressed.findIndex(({ to }, index) => {
    messages += to.length;
    return index > 0 && messages > MOST_MESSAGES;
  });
  return end === -1 ? [...addressed] : addressed.slice(0, end);
};

/** One message for each event and webhook, with its job. */
const fanOut = async (tx: Tx, now: Date, addressed: readonly Addressed[]): Promise<NewJob[]> => {
  const messages = addressed.flatMap(({ event, to }) => {
    const payload = toBody({ event: event.type, timestamp: event.createdAt, data: event.data });
    return to.map((webhook) => ({
      workspaceId: event.workspaceId,
      id: createMessageId(now),
      webhookId: webhook.id,
      jobId: randomUUID(),
      eventId: String(event.id),
      event: event.type,
      payload,
      lane: webhook.isSlow ? ('slow' as const) : ('fast' as const),
    }));
  });
  if (messages.length === 0) return [];
  await tx.$executeRaw`
    insert into webhook_messages
      (workspace_id, id, webhook_id, event_id, event, payload, status, job_id, next_attempt_at, created_at, updated_at)
    select m."workspaceId", m.id, m."webhookId", m."eventId", m.event, m.payload, 'waiting', m."jobId", ${now}, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(messages)}::json) as m
      ("workspaceId" int, id text, "webhookId" int, "eventId" bigint, event text, payload text, "jobId" uuid)`;
  return messages.map(({ workspaceId, id, webhookId, jobId, lane }) => {
    return { id: jobId, workspaceId, webhookId, messageId: id, lane, delayMs: 0 };
  });
};

/** Jobs for messages that a request has set waiting: tests and what is sent again. In the slow lane, as they may be many. */
const takeUnqueued = async (tx: Tx): Promise<NewJob[]> => {
  const rows = await tx.$queryRaw<NewMessage[]>`
    update webhook_messages m set job_id = gen_random_uuid()
    from (select workspace_id, id from webhook_messages where status = 'waiting' and job_id is null
          order by next_attempt_at limit ${MOST_MESSAGES} for update skip locked) t
    where m.workspace_id = t.workspace_id and m.id = t.id
    returning m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.job_id as "jobId"`;
  return rows.map(({ workspaceId, id, webhookId, jobId }) => {
    return { id: jobId, workspaceId, webhookId, messageId: id, lane: 'slow', delayMs: 0 };
  });
};

const markRelayed = (tx: Tx, now: Date, batch: readonly Addressed[]) => tx.$executeRaw`
  update events e set relayed_at = ${now}
  from json_to_recordset(${JSON.stringify(batch.map(({ event: { workspaceId, id } }) => ({ workspaceId, id: String(id) })))}::json)
    as r ("workspaceId" int, id bigint)
  where e.workspace_id = r."workspaceId" and e.id = r.id`;

/** Relays one batch. Resolves with whether there may be more. */
export const relayOnce = (services: { db: Database; clock: Clock; queue: DeliveryQueue }): Promise<boolean> => {
  const { db, clock, queue } = services;
  return transact(db, async (tx) => {
    const now = clock.now();
    const events = await takeEvents(tx);
    const batch = events.length > 0 ? cutBatch(await address(tx, events)) : [];
    const jobs = await fanOut(tx, now, batch);
    if (batch.length > 0) await markRelayed(tx, now, batch);
    const unqueued = await takeUnqueued(tx);
    await queue.add(tx, [...jobs, ...unqueued]);
    return events.length === MOST_EVENTS || batch.length < events.length || unqueued.length === MOST_MESSAGES;
  });
};
