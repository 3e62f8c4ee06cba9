/** Records finished attempts, many at a time, and queues the retries. */
import { randomUUID } from 'node:crypto';
import { type Database, type Tx, transact } from '../db/client.ts';
import { releaseHeld } from './held-messages.ts';
import type { LoadedMessage } from './load-messages.ts';
import { lockWebhooks } from './lock-webhooks.ts';
import { cancelUnwanted } from './pending-messages.ts';
import { type DeliveryQueue, type NewJob, toSlowRank, toWebhookKey } from './queue.ts';
import { nextDelayMs } from './retry-schedule.ts';
import type { Attempt } from './send-message.ts';
import { applyAttempts, isSuccess, updateWebhooks, type WebhookHealth, type WebhookUpdate } from './webhook-health.ts';

type Retry = { jobId: string; delayMs: number; at: Date };

type PlannedAttempt = Attempt & { retry: Retry | null };

/**
 * Records attempts, at most one per message, in one transaction: adds their rows, updates their messages and webhooks,
 * queues the retries and the messages that waited for these attempts, and completes their jobs. If `mayBeRecorded` is
 * true, an earlier call, whose commit was not confirmed, may have recorded some of them; those are skipped. Resolves
 * with the attempts that are not recorded because their webhooks are being deleted.
 */
export function recordAttempts(
  { db, queue }: { db: Database; queue: DeliveryQueue },
  now: Date,
  finished: readonly Attempt[],
  mayBeRecorded: boolean,
): Promise<Attempt[]> {
  return transact(db, async (tx) => {
    const unrecorded = mayBeRecorded ? await findUnrecorded(tx, queue, finished) : finished;
    const { webhooks, isBeingDeleted } = await lockWebhooks(
      tx,
      unrecorded.map(({ message }) => message),
    );
    const attempts = unrecorded.filter(({ message }) => !isBeingDeleted(message));
    const updates = applyToWebhooks(webhooks, attempts);
    const planned = attempts.map((attempt): PlannedAttempt => {
      const isActive = updates.get(toWebhookKey(attempt.message))?.isActive ?? false;
      return { ...attempt, retry: isSuccess(attempt) ? null : planRetry(attempt, isActive, now) };
    });
    const nextJobIds = new Map((await writeAttempts(tx, now, planned)).map(({ id, jobId }) => [id, jobId]));
    await updateWebhooks(tx, now, [...updates.values()]);
    for (const webhook of updates.values()) {
      if (webhook.disabledReason !== null) await cancelUnwanted(tx, now, webhook);
    }
    const retries = planned.flatMap(({ retry, message }) => {
      // A message that was resent or cancelled meanwhile has another job, or none.
      if (retry === null || nextJobIds.get(message.id) !== retry.jobId) return [];
      return toRetryJob(message, retry, updates.get(toWebhookKey(message))?.failureCount ?? 0);
    });
    const released = await releaseHeld(
      tx,
      attempts.map(({ message }) => message),
    );
    await queue.add(tx, [...retries, ...released]);
    await queue.complete(
      tx,
      attempts.map(({ lease }) => lease),
    );
    return unrecorded.filter(({ message }) => isBeingDeleted(message));
  });
}

async function findUnrecorded(tx: Tx, queue: DeliveryQueue, attempts: readonly Attempt[]): Promise<Attempt[]> {
  const leases = attempts.map(({ lease }) => lease);
  const incomplete = await queue.findIncomplete(tx, leases);
  return attempts.filter(({ lease }) => incomplete.has(lease.id));
}

/** Returns what the attempts change, by webhook key. */
function applyToWebhooks(webhooks: readonly WebhookHealth[], attempts: readonly Attempt[]): Map<string, WebhookUpdate> {
  const attemptsByWebhook = Map.groupBy(attempts, ({ message }) => toWebhookKey(message));
  return new Map(
    webhooks.map((webhook) => {
      const key = toWebhookKey(webhook);
      return [key, applyAttempts(webhook, attemptsByWebhook.get(key) ?? [])];
    }),
  );
}

/**
 * Returns when a failed attempt is retried, or null if the webhook is inactive or the schedule has no further attempt.
 */
function planRetry({ message, outcome }: Attempt, isActive: boolean, now: Date): Retry | null {
  const delayMs = isActive ? nextDelayMs(message.roundAttempts + 1, outcome.retryAfterSeconds) : null;
  return delayMs === null ? null : { jobId: randomUUID(), delayMs, at: new Date(now.getTime() + delayMs) };
}

/**
 * Adds the rows of the attempts, and updates the messages that were still waiting for them. A message that was resent
 * or cancelled meanwhile only gets a new attempt count. Resolves with the job that each message has now.
 */
function writeAttempts(tx: Tx, now: Date, attempts: readonly PlannedAttempt[]) {
  const rows = attempts.map((attempt) => ({
    workspaceId: attempt.message.workspaceId,
    messageId: attempt.message.id,
    webhookId: attempt.message.webhookId,
    jobId: attempt.lease.id,
    success: isSuccess(attempt),
    responseStatus: attempt.outcome.status,
    text: attempt.outcome.text,
    durationMs: Math.round(attempt.outcome.durationMs),
    at: attempt.at,
    nextStatus: isSuccess(attempt) ? 'delivered' : attempt.retry === null ? 'failed' : 'waiting',
    nextJobId: attempt.retry?.jobId ?? null,
    nextAt: attempt.retry?.at ?? null,
  }));
  return tx.$queryRaw<{ id: string; jobId: string | null }[]>`
    with finished as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as a ("workspaceId" int, "messageId" text,
        "webhookId" int, "jobId" uuid, success boolean, "responseStatus" int, text text, "durationMs" int,
        at timestamptz, "nextStatus" text, "nextJobId" uuid, "nextAt" timestamptz)),
    -- Rows are locked in a fixed order. Whether a message still waits for this job is read after locking it.
    locked as (
      select m.workspace_id, m.id, m.status = 'waiting' and m.job_id is not distinct from a."jobId" as is_current
      from webhook_messages m join finished a on m.workspace_id = a."workspaceId" and m.id = a."messageId"
      order by m.workspace_id, m.id for no key update of m),
    -- Attempts are numbered here, so that the numbers have no gaps even if a worker is killed.
    updated as (
      update webhook_messages m set attempts = m.attempts + 1, updated_at = ${now},
        round_attempts = m.round_attempts + case when l.is_current then 1 else 0 end,
        status = case when l.is_current then a."nextStatus" else m.status end,
        job_id = case when l.is_current then a."nextJobId" else m.job_id end,
        next_attempt_at = case when l.is_current then a."nextAt" else m.next_attempt_at end
      from finished a join locked l on l.workspace_id = a."workspaceId" and l.id = a."messageId"
      where m.workspace_id = l.workspace_id and m.id = l.id
      returning m.workspace_id, m.id, m.attempts, m.job_id),
    added as (
      insert into webhook_deliveries
        (workspace_id, webhook_id, message_id, attempt, response_status, response_body, success, duration_ms,
         created_at)
      select a."workspaceId", a."webhookId", a."messageId", m.attempts, a."responseStatus", a.text, a.success,
        a."durationMs", a.at
      from finished a join updated m on m.workspace_id = a."workspaceId" and m.id = a."messageId")
    select id, job_id::text as "jobId" from updated`;
}

function toRetryJob(message: LoadedMessage, { jobId, delayMs }: Retry, failureCount: number): NewJob {
  const { workspaceId, webhookId, id: messageId } = message;
  return { id: jobId, workspaceId, webhookId, messageId, lane: 'slow', rank: toSlowRank(failureCount), delayMs };
}
