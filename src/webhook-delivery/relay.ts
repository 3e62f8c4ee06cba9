/**
 * The relay: numbers the events of the event log, turns them into messages for the webhooks that subscribe to them, and
 * queues a job for each message. Each batch is one transaction, so that an event is relayed exactly once, however many
 * relays run, and even if one is killed.
 *
 * One relay works at a time. An event therefore gets a higher `sequence` than all events that were committed before its
 * own transaction began, and once a sequence is visible, no lower one appears later.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/time.ts';
import { type StartedSpan, startSpan } from '../core/tracing.ts';
import type { Database } from '../db/client.ts';
import { onlyRow } from '../db/only-row.ts';
import { bool, int, json, type RowOf, type Sql, statement, text, time } from '../db/statements.ts';
import { announceEvents } from '../events/announce.ts';
import { toBody } from '../events/envelope.ts';
import { transactByIndex } from './by-index.ts';
import { findPredecessors, type SubjectRef, toSubjectKey } from './held-messages.ts';
import { insertMessages, type NewMessage } from './insert-messages.ts';
import { createMessageId } from './message-id.ts';
import { continueCancelling } from './pending-messages.ts';
import { type DeliveryQueue, type NewJob, toQueueRank } from './queue.ts';
import { createPendingCounts, findPosition, type PendingCounts, toWeight } from './queue-position.ts';
import { RELAY_LOCK } from './relay-lock.ts';
import { type AddressedEvent, type EventRow, MAX_MESSAGES, takeBatch } from './take-batch.ts';

const MAX_EVENTS = 1_000;
/** After this time, PostgreSQL ends the transaction of a frozen relay, so that another one can take over. */
const MAX_IDLE_MS = 10_000;

const markStatement = statement('mark-events-relayed', {
  plansAnew: true,
  params: { now: time, events: json<{ workspaceId: number; id: string; sequence: string }[]>() },
  sql: `
    update events e set relayed_at = $now, sequence = r.sequence
    from jsonb_to_recordset($events) as r ("workspaceId" int, id bigint, sequence bigint)
    where e.workspace_id = r."workspaceId" and e.id = r.id`,
});

const giveJobs = statement('give-jobs-to-messages', {
  plansAnew: true,
  params: {},
  returns: { workspaceId: int, id: text, webhookId: int, jobId: text, isSlow: bool, failureCount: int },
  sql: `
    update webhook_messages m set job_id = gen_random_uuid()
    from (select workspace_id, id from webhook_messages where status = 'waiting' and job_id is null and after_id is null
          order by next_attempt_at limit ${MAX_MESSAGES} for update skip locked) t, webhooks w
    where m.workspace_id = t.workspace_id and m.id = t.id and w.workspace_id = m.workspace_id and w.id = m.webhook_id
    returning m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.job_id::text as "jobId",
      w.is_slow as "isSlow", w.failure_count as "failureCount"`,
});

type RelayServices = { db: Database; clock: Clock; queue: DeliveryQueue };
type RelayParts = RelayServices & { pending: PendingCounts };

/**
 * Returns a function that relays one batch and resolves with true if there may be more to relay. After a failure, the
 * batches are smaller, so that an event that cannot be relayed blocks only a few others.
 */
export function createRelay(services: RelayServices): () => Promise<boolean> {
  let max = MAX_EVENTS;
  const parts: RelayParts = { ...services, pending: createPendingCounts() };
  return async () => {
    try {
      const isMore = await relayBatch(parts, max);
      max = Math.min(max * 2, MAX_EVENTS);
      return isMore;
    } catch (error) {
      max = Math.max(1, Math.floor(max / 2));
      throw error;
    }
  };
}

async function relayBatch(parts: RelayParts, max: number): Promise<boolean> {
  const { db, clock, queue } = parts;
  const { isMore, isCancelling, numbered } = await transactByIndex(db.sql, async (sql) => {
    const { isLocked, isCancelling } = await lockRelay(sql);
    if (!isLocked) return { isMore: false, isCancelling, numbered: [] };
    const now = clock.now();
    const { batch, isMore: isMoreToTake } = await takeBatch(sql, max);
    await fanOut(sql, now, parts, batch);
    if (batch.length > 0) await markRelayed(sql, now, batch);
    const queued = await queueUnqueued(sql, queue);
    const numbered = batch.map(({ event }) => event.workspaceId);
    return { isMore: isMoreToTake || queued === MAX_MESSAGES, isCancelling, numbered };
  });
  if (numbered.length > 0) announceEvents(db.sql, numbered);
  if (!isCancelling) return isMore;
  return (await transactByIndex(db.sql, (sql) => continueCancelling(sql, clock.now()))) || isMore;
}

const lockStatement = statement('lock-relay', {
  params: { lock: text, maxIdleMs: text },
  returns: { isLocked: bool, maxIdleMs: text, isCancelling: bool },
  sql: `
    select pg_try_advisory_xact_lock(hashtext($lock)) as "isLocked",
      set_config('idle_in_transaction_session_timeout', $maxIdleMs, true) as "maxIdleMs",
      exists (select from webhooks where is_cancelling) as "isCancelling"`,
});

/**
 * `isLocked` is false if another relay is working. In this case, there is nothing to do: every wake-up reaches all
 * relays, so the other one also relays the events that are committed in the meantime. `isCancelling` is true if some
 * webhook still has messages to cancel.
 */
async function lockRelay(sql: Sql): Promise<RowOf<typeof lockStatement>> {
  return onlyRow(await sql.run(lockStatement, { lock: RELAY_LOCK, maxIdleMs: String(MAX_IDLE_MS) }));
}

/**
 * Adds a message with its job for each event and subscriber. The more messages of a workspace are pending, the further
 * back its next ones are queued. A message that must wait for an earlier one gets no job yet.
 */
async function fanOut(
  sql: Sql,
  now: Date,
  { queue, pending }: RelayParts,
  addressed: readonly AddressedEvent[],
): Promise<void> {
  const received = addressed.filter(({ subscribers }) => subscribers.length > 0);
  if (received.length === 0) return;
  await pending.load(sql, [...new Set(received.map(({ event }) => event.workspaceId))]);
  const last = await findPredecessors(sql, listSubjects(received));
  const messages: NewMessage[] = [];
  const spans: (StartedSpan | null)[] = [];
  const write = async (): Promise<void> => {
    // Sent together, without waiting for an answer in between.
    await Promise.all([sql.run(insertMessages, { now, messages: messages.splice(0) }), queue.wake(sql)]);
  };
  for (const { event, subscribers } of received) {
    const { workspaceId, id: eventId, sequence, type, subject } = event;
    const payload = toBody({ event: type, timestamp: event.createdAt, data: event.data });
    const span = startRelaySpan(event, subscribers.length);
    spans.push(span);
    const traceparent = span?.traceparent ?? event.traceparent ?? undefined;
    for (const subscriber of subscribers) {
      const [id, webhookId] = [createMessageId(now), subscriber.id];
      const ahead = pending.next(workspaceId);
      const key = subject === null ? null : toSubjectKey({ workspaceId, webhookId, subject });
      const afterId = key === null ? null : (last.get(key) ?? null);
      if (key !== null) last.set(key, id);
      const jobId = afterId === null ? randomUUID() : null;
      const queueRank = jobId === null ? null : toQueueRank(findPosition(subscriber, toWeight(ahead)));
      const place = { workspaceId, id, webhookId, jobId, queueRank, afterId, eventId, sequence, subject };
      messages.push({ ...place, event: type, payload, traceparent, createdAt: now });
      if (messages.length === MAX_MESSAGES) await write();
    }
  }
  if (messages.length > 0) await write();
  for (const span of spans) span?.end();
}

/** The span of an event that belongs to a trace. Null for other events, and if this process records no traces. */
function startRelaySpan({ type, id, traceparent }: EventRow, messages: number): StartedSpan | null {
  if (traceparent === null) return null;
  return startSpan(`relay ${type}`, {
    kind: 'producer',
    attributes: { 'lynxroom.event_id': id, 'lynxroom.messages': messages },
    parent: traceparent,
  });
}

/** Returns each webhook and subject once. */
function listSubjects(addressed: readonly AddressedEvent[]): SubjectRef[] {
  const refs = new Map<string, SubjectRef>();
  for (const { event, subscribers } of addressed) {
    const { workspaceId, subject } = event;
    if (subject === null) continue;
    for (const { id: webhookId } of subscribers) {
      const ref = { workspaceId, webhookId, subject };
      refs.set(toSubjectKey(ref), ref);
    }
  }
  return [...refs.values()];
}

function markRelayed(sql: Sql, now: Date, batch: readonly AddressedEvent[]) {
  const events = batch.map(({ event: { workspaceId, id, sequence } }) => ({ workspaceId, id, sequence }));
  return sql.run(markStatement, { now, events });
}

/**
 * Queues jobs for the pending messages that have none: test messages, resent messages, and those that no longer wait
 * for another one. The more there are, the further back they are queued. Resolves with their number.
 */
async function queueUnqueued(sql: Sql, queue: DeliveryQueue): Promise<number> {
  const rows = await sql.run(giveJobs, {});
  const jobs = rows.map(({ workspaceId, id, webhookId, jobId, ...webhook }): NewJob => {
    return { id: jobId, workspaceId, webhookId, messageId: id, ...findPosition(webhook, rows.length - 1), delayMs: 0 };
  });
  await queue.add(sql, jobs);
  return rows.length;
}
