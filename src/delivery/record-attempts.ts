/** Writes down what became of attempts, many at a time, and queues what comes after them. */
import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../core/time.ts';
import { type Database, type Tx, transact } from '../db/client.ts';
import type { LoadedMessage } from './load-messages.ts';
import { type Claim, type DeliveryQueue, type NewJob, webhookKey } from './queue.ts';
import { nextDelayMs } from './retry-schedule.ts';
import type { Outcome } from './sender.ts';
import { cancelWaiting } from './start-round.ts';

/** One attempt that was made. */
export type Attempt = { claim: Claim; message: LoadedMessage; at: Date; outcome: Outcome };

/** A webhook whose answers take longer waits in the slow lane. */
const SLOW_MS = 2_000;
/** So long every attempt may fail before the webhook is deactivated. */
const MOST_FAILING_MS = 5 * DAY_MS;
const GONE = 410;

const isSuccess = ({ outcome: { status } }: Attempt): boolean => status >= 200 && status < 300;

type WebhookState = {
  workspaceId: number;
  id: number;
  url: string;
  isActive: boolean;
  failureCount: number;
  failingSince: Date | null;
  lastDeliveryAt: Date | null;
  isSlow: boolean;
};

type WebhookChange = WebhookState & { disabledReason: string | null };

/** Held in the order of their ids, so that two workers that record attempts at the same webhooks do not meet head on. */
const holdWebhooks = (tx: Tx, attempts: readonly Attempt[]): Promise<WebhookState[]> => {
  const keys = attempts.map(({ message: { workspaceId, webhookId } }) => ({ workspaceId, webhookId }));
  return tx.$queryRaw`
    select w.workspace_id as "workspaceId", w.id, w.url, w.is_active as "isActive", w.failure_count as "failureCount",
      w.failing_since as "failingSince", w.last_delivery_at as "lastDeliveryAt", w.is_slow as "isSlow"
    from webhooks w
    where (w.workspace_id, w.id) in
      (select "workspaceId", "webhookId" from json_to_recordset(${JSON.stringify(keys)}::json) as k ("workspaceId" int, "webhookId" int))
    order by w.workspace_id, w.id for no key update`;
};

/** Why the service stops sending to a webhook; null: it does not. */
const deactivationOf = (failingSince: Date | null, last: Attempt, attempts: readonly Attempt[]): string | null => {
  if (attempts.some(({ outcome }) => outcome.status === GONE)) return 'The receiver answered 410 Gone';
  if (failingSince === null || last.at.getTime() - failingSince.getTime() < MOST_FAILING_MS) return null;
  return 'Every attempt failed for 5 days';
};

/**
 * A webhook after attempts, in the order in which they ended. Those at a URL that it has no more say nothing of the one that
 * it has now.
 */
const settleWebhook = (before: WebhookState, all: readonly Attempt[]): WebhookChange => {
  const attempts = all.filter(({ message }) => message.url === before.url);
  let { failureCount, failingSince, lastDeliveryAt } = before;
  for (const attempt of attempts) {
    failureCount = isSuccess(attempt) ? 0 : failureCount + 1;
    failingSince = isSuccess(attempt) ? null : (failingSince ?? attempt.at);
    if (lastDeliveryAt === null || attempt.at > lastDeliveryAt) lastDeliveryAt = attempt.at;
  }
  const last = attempts.at(-1);
  const disabledReason = before.isActive && last ? deactivationOf(failingSince, last, attempts) : null;
  return {
    ...before,
    isActive: before.isActive && disabledReason === null,
    failureCount,
    failingSince,
    lastDeliveryAt,
    isSlow: last === undefined ? before.isSlow : !isSuccess(last) || last.outcome.durationMs > SLOW_MS,
    disabledReason,
  };
};

const writeWebhooks = (tx: Tx, now: Date, changes: readonly WebhookChange[]) => tx.$executeRaw`
  update webhooks w set failure_count = c."failureCount", failing_since = c."failingSince",
    last_delivery_at = c."lastDeliveryAt", is_slow = c."isSlow", is_active = c."isActive",
    disabled_reason = coalesce(c."disabledReason", w.disabled_reason),
    updated_at = case when c."disabledReason" is null then w.updated_at else ${now} end
  from json_to_recordset(${JSON.stringify(changes)}::json) as c ("workspaceId" int, id int, "failureCount" int,
    "failingSince" timestamptz, "lastDeliveryAt" timestamptz, "isSlow" boolean, "isActive" boolean, "disabledReason" text)
  where w.workspace_id = c."workspaceId" and w.id = c.id`;

type Next = { jobId: string; delayMs: number; at: Date };

/** When the message is tried again, if this attempt failed and the schedule has more. */
const nextOf = ({ message, outcome }: Attempt, isActive: boolean, now: Date): Next | null => {
  const delayMs = isActive ? nextDelayMs(message.roundAttempts + 1, outcome.retryAfterSeconds) : null;
  return delayMs === null ? null : { jobId: randomUUID(), delayMs, at: new Date(now.getTime() + delayMs) };
};

type Recorded = { id: string; jobId: string | null };

/**
 * Adds the attempts, and moves on the messages that still waited for them. Those that were sent again or cancelled
 * meanwhile only get their attempt counted.
 */
const writeAttempts = (tx: Tx, now: Date, attempts: readonly (Attempt & { next: Next | null })[]) => {
  const rows = attempts.map((attempt) => ({
    workspaceId: attempt.message.workspaceId,
    messageId: attempt.message.id,
    webhookId: attempt.message.webhookId,
    jobId: attempt.claim.id,
    success: isSuccess(attempt),
    responseStatus: attempt.outcome.status,
    text: attempt.outcome.text,
    durationMs: Math.round(attempt.outcome.durationMs),
    at: attempt.at,
    nextStatus: isSuccess(attempt) ? 'delivered' : attempt.next === null ? 'failed' : 'waiting',
    nextJobId: attempt.next?.jobId ?? null,
    nextAt: attempt.next?.at ?? null,
  }));
  return tx.$queryRaw<Recorded[]>`
    with made as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as a ("workspaceId" int, "messageId" text,
        "webhookId" int, "jobId" uuid, success boolean, "responseStatus" int, text text, "durationMs" int, at timestamptz,
        "nextStatus" text, "nextJobId" uuid, "nextAt" timestamptz)),
    -- Locked in one order, and looked at behind the lock: they may have been sent again or cancelled meanwhile.
    held as (
      select m.workspace_id, m.id, m.status = 'waiting' and m.job_id is not distinct from a."jobId" as is_current
      from webhook_messages m join made a on m.workspace_id = a."workspaceId" and m.id = a."messageId"
      order by m.workspace_id, m.id for no key update of m),
    -- The number of the attempt is given here, so that numbers have no gaps whatever was cut off.
    moved as (
      update webhook_messages m set attempts = m.attempts + 1, updated_at = ${now},
        round_attempts = m.round_attempts + case when h.is_current then 1 else 0 end,
        status = case when h.is_current then a."nextStatus" else m.status end,
        job_id = case when h.is_current then a."nextJobId" else m.job_id end,
        next_attempt_at = case when h.is_current then a."nextAt" else m.next_attempt_at end
      from made a join held h on h.workspace_id = a."workspaceId" and h.id = a."messageId"
      where m.workspace_id = h.workspace_id and m.id = h.id
      returning m.workspace_id, m.id, m.attempts, m.job_id),
    added as (
      insert into webhook_deliveries
        (workspace_id, webhook_id, message_id, attempt, response_status, response_body, success, duration_ms, created_at)
      select a."workspaceId", a."webhookId", a."messageId", m.attempts, a."responseStatus", a.text, a.success, a."durationMs", a.at
      from made a join moved m on m.workspace_id = a."workspaceId" and m.id = a."messageId")
    select id, job_id::text as "jobId" from moved`;
};

/**
 * Records attempts, one a message, in one transaction: their rows, what is next for their messages, the state of their
 * webhooks, and the end of their jobs. May be repeated as a whole when it fails.
 */
export const recordAttempts = (
  { db, queue }: { db: Database; queue: DeliveryQueue },
  now: Date,
  attempts: readonly Attempt[],
): Promise<void> =>
  transact(db, async (tx) => {
    const ofWebhook = Map.groupBy(attempts, ({ message }) => webhookKey(message.workspaceId, message.webhookId));
    const changes = (await holdWebhooks(tx, attempts)).map((webhook) =>
      settleWebhook(webhook, ofWebhook.get(webhookKey(webhook.workspaceId, webhook.id)) ?? []),
    );
    const isActive = new Map(changes.map(({ workspaceId, id, isActive }) => [webhookKey(workspaceId, id), isActive]));
    const planned = attempts.map((attempt) => {
      const { workspaceId, webhookId } = attempt.message;
      const next = isSuccess(attempt)
        ? null
        : nextOf(attempt, isActive.get(webhookKey(workspaceId, webhookId)) ?? false, now);
      return { ...attempt, next };
    });
    const recorded = new Map((await writeAttempts(tx, now, planned)).map(({ id, jobId }) => [id, jobId]));
    await writeWebhooks(tx, now, changes);
    for (const { workspaceId, id, disabledReason } of changes) {
      if (disabledReason !== null) await cancelWaiting(tx, now, { workspaceId, webhookId: id });
    }
    const jobs = planned.flatMap(({ next, message }): NewJob[] => {
      if (next === null || recorded.get(message.id) !== next.jobId) return [];
      const { workspaceId, webhookId, id: messageId } = message;
      return [{ id: next.jobId, workspaceId, webhookId, messageId, lane: 'slow', delayMs: next.delayMs }];
    });
    await queue.add(tx, jobs);
    await queue.finish(
      tx,
      attempts.map(({ claim }) => claim),
    );
  });
