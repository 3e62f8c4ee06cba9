/** Writes down what became of attempts, many at a time, and queues what comes after them. */
import { randomUUID } from 'node:crypto';
import { type Database, type Tx, transact } from '../db/client.ts';
import { cancelWaiting } from './pending-messages.ts';
import { type DeliveryQueue, type NewJob, slowRank, webhookKey } from './queue.ts';
import { nextDelayMs } from './retry-schedule.ts';
import type { Attempt } from './send-message.ts';
import { holdWebhooks, isSuccess, settleWebhook, type WebhookChange, writeWebhooks } from './webhook-health.ts';

type Next = { jobId: string; delayMs: number; at: Date };

type Planned = Attempt & { next: Next | null };

type Recorded = { id: string; jobId: string | null };

/**
 * Records attempts, one a message, in one transaction: their rows, what is next for their messages, the state of their
 * webhooks, and the end of their jobs. `isRepeated`: they may have been recorded already, as where the answer to a commit
 * was lost; what was is left alone.
 */
export function recordAttempts(
  { db, queue }: { db: Database; queue: DeliveryQueue },
  now: Date,
  given: readonly Attempt[],
  isRepeated: boolean,
): Promise<void> {
  return transact(db, async (tx) => {
    const claims = given.map(({ claim }) => claim);
    const unfinished = isRepeated ? await queue.unfinished(tx, claims) : null;
    const attempts = unfinished === null ? given : given.filter(({ claim }) => unfinished.has(claim.id));
    const ofWebhook = Map.groupBy(attempts, ({ message }) => webhookKey(message));
    const changes = new Map(
      (await holdWebhooks(tx, attempts)).map((webhook) => {
        const key = webhookKey(webhook);
        return [key, settleWebhook(webhook, ofWebhook.get(key) ?? [])];
      }),
    );
    const planned = attempts.map((attempt): Planned => {
      const isActive = changes.get(webhookKey(attempt.message))?.isActive ?? false;
      return { ...attempt, next: isSuccess(attempt) ? null : nextOf(attempt, isActive, now) };
    });
    const jobIds = new Map((await writeAttempts(tx, now, planned)).map(({ id, jobId }) => [id, jobId]));
    await writeWebhooks(tx, now, [...changes.values()]);
    for (const webhook of changes.values()) {
      if (webhook.disabledReason !== null) await cancelWaiting(tx, now, webhook);
    }
    const moved = planned.filter(({ next, message }) => next !== null && jobIds.get(message.id) === next.jobId);
    await queue.add(
      tx,
      moved.flatMap((attempt) => retryOf(attempt, changes.get(webhookKey(attempt.message)))),
    );
    await queue.finish(tx, claims);
  });
}

/** When the message is tried again, if this attempt failed and the schedule has more. */
function nextOf({ message, outcome }: Attempt, isActive: boolean, now: Date): Next | null {
  const delayMs = isActive ? nextDelayMs(message.roundAttempts + 1, outcome.retryAfterSeconds) : null;
  return delayMs === null ? null : { jobId: randomUUID(), delayMs, at: new Date(now.getTime() + delayMs) };
}

/**
 * Adds the attempts, and moves on the messages that still waited for them. Those that were sent again or cancelled
 * meanwhile only get their attempt counted.
 */
function writeAttempts(tx: Tx, now: Date, attempts: readonly Planned[]) {
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
}

function retryOf({ message, next }: Planned, webhook: WebhookChange | undefined): NewJob[] {
  if (next === null) return [];
  const { workspaceId, webhookId, id: messageId } = message;
  const rank = slowRank(webhook?.failureCount ?? 0);
  return [{ id: next.jobId, workspaceId, webhookId, messageId, lane: 'slow', rank, delayMs: next.delayMs }];
}
