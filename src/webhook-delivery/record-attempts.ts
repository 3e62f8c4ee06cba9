/** Records finished attempts, many at a time, and queues the retries. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../db/client.ts';
import { int, json, nullable, type Sql, statement, text, texts, time } from '../db/statements.ts';
import { transactByIndex } from './by-index.ts';
import { heldBehind, releaseHeld } from './held-messages.ts';
import type { LoadedMessage } from './load-messages.ts';
import { lockWebhooks } from './lock-webhooks.ts';
import { cancelUnwanted } from './pending-messages.ts';
import { type DeliveryQueue, type NewJob, toSlowRank, toWebhookKey } from './queue.ts';
import { nextDelayMs } from './retry-schedule.ts';
import type { Attempt } from './send-message.ts';
import { applyAttempts, isSuccess, updateWebhooks, type WebhookHealth, type WebhookUpdate } from './webhook-health.ts';

type Retry = { jobId: string; delayMs: number; at: Date };

type PlannedAttempt = Attempt & { retry: Retry | null };

type AttemptRow = {
  workspaceId: number;
  messageId: string;
  webhookId: number;
  jobId: string;
  success: boolean;
  responseStatus: number;
  text: string;
  durationMs: number;
  at: Date;
  nextStatus: string;
  nextJobId: string | null;
  nextAt: Date | null;
};

/** False for a message that was resent, cancelled or attempted by another worker during the attempt. */
const isCurrent = `(m.status = 'waiting' and m.job_id is not distinct from a."jobId")`;
/**
 * A success counts whatever happened to the message during the attempt, because the receiver has the message. After a
 * failure, a message that is no longer current keeps its state.
 */
const isDecisive = `(a.success or ${isCurrent})`;

/**
 * Adds the rows of attempts and updates their messages. Returns the job that each message has now, and the messages
 * that are held behind it. The caller has locked the webhooks, so no API request changes the messages meanwhile. If the
 * relay or the maintenance has locked a message, the update waits and then reads the row again.
 */
const writeAttempts = statement('record-attempts', {
  plansAnew: true,
  params: { now: time, attempts: json<AttemptRow[]>() },
  returns: { workspaceId: int, id: text, jobId: nullable(text), held: texts },
  // Attempts are numbered here, so that the numbers have no gaps even if a worker is killed.
  sql: `
    with updated as (
      update webhook_messages m set attempts = m.attempts + 1, updated_at = $now,
        round_attempts = m.round_attempts + case when ${isCurrent} then 1 else 0 end,
        status = case when ${isDecisive} then a."nextStatus" else m.status end,
        job_id = case when ${isDecisive} then a."nextJobId" else m.job_id end,
        after_id = case when ${isDecisive} then null else m.after_id end,
        next_attempt_at = case when ${isDecisive} then a."nextAt" else m.next_attempt_at end
      from jsonb_to_recordset($attempts) as a ("workspaceId" int, "messageId" text, "webhookId" int, "jobId" uuid,
        success boolean, "responseStatus" int, text text, "durationMs" int, at timestamptz, "nextStatus" text,
        "nextJobId" uuid, "nextAt" timestamptz)
      where m.workspace_id = a."workspaceId" and m.id = a."messageId"
      returning m.workspace_id, m.id, m.webhook_id, m.attempts, m.job_id, a."responseStatus", a.text, a.success,
        a."durationMs", a.at),
    added as (
      insert into webhook_deliveries
        (workspace_id, webhook_id, message_id, attempt, response_status, response_body, success, duration_ms,
         created_at)
      select workspace_id, webhook_id, id, attempts, "responseStatus", text, success, "durationMs", at from updated)
    select m.workspace_id as "workspaceId", m.id, m.job_id::text as "jobId", ${heldBehind} as held from updated m`,
});

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
  return transactByIndex(db.sql, async (sql) => {
    const unrecorded = mayBeRecorded ? await findUnrecorded(sql, finished) : finished;
    const { webhooks, isBeingDeleted } = await lockWebhooks(
      sql,
      unrecorded.map(({ message }) => message),
    );
    const attempts = unrecorded.filter(({ message }) => !isBeingDeleted(message));
    const updates = applyToWebhooks(webhooks, attempts);
    const planned = attempts.map((attempt): PlannedAttempt => {
      const isActive = updates.get(toWebhookKey(attempt.message))?.isActive ?? false;
      return { ...attempt, retry: isSuccess(attempt) ? null : planRetry(attempt, isActive, now) };
    });
    // Sent together, because none of them depends on the results of the others.
    const [written] = await Promise.all([
      sql.run(writeAttempts, { now, attempts: planned.map(toRow) }),
      updateWebhooks(sql, now, [...updates.values()]),
      queue.complete(
        sql,
        attempts.map(({ lease }) => lease),
      ),
    ]);
    const nextJobIds = new Map(written.map(({ id, jobId }) => [id, jobId]));
    for (const webhook of updates.values()) {
      if (webhook.disabledReason !== null) await cancelUnwanted(sql, now, webhook);
    }
    const retries = planned.flatMap(({ retry, message }) => {
      // A message that was resent or cancelled in the meantime has another job, or none.
      if (retry === null || nextJobIds.get(message.id) !== retry.jobId) return [];
      return toRetryJob(message, retry, updates.get(toWebhookKey(message))?.failureCount ?? 0);
    });
    const held = written.flatMap(({ workspaceId, held }) => held.map((id) => ({ workspaceId, id })));
    await queue.add(sql, [...retries, ...(await releaseHeld(sql, held))]);
    return unrecorded.filter(({ message }) => isBeingDeleted(message));
  });
}

const findRecorded = statement('find-recorded-attempts', {
  plansAnew: true,
  params: { attempts: json<readonly { workspaceId: number; messageId: string; at: Date }[]>() },
  returns: { messageId: text },
  sql: `
    select d.message_id as "messageId"
    from jsonb_to_recordset($attempts) as a ("workspaceId" int, "messageId" text, at timestamptz)
    join webhook_deliveries d on d.workspace_id = a."workspaceId" and d.message_id = a."messageId"
      and d.created_at = a.at`,
});

/** An attempt is known by its message and the time at which it ended. */
async function findUnrecorded(sql: Sql, attempts: readonly Attempt[]): Promise<Attempt[]> {
  const rows = await sql.run(findRecorded, {
    attempts: attempts.map(({ message, at }) => ({ workspaceId: message.workspaceId, messageId: message.id, at })),
  });
  const recorded = new Set(rows.map(({ messageId }) => messageId));
  return attempts.filter(({ message }) => !recorded.has(message.id));
}

/** Returns the changes that the attempts cause, by webhook key. */
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

function toRow(attempt: PlannedAttempt): AttemptRow {
  const { lease, message, outcome, retry, at } = attempt;
  return {
    workspaceId: message.workspaceId,
    messageId: message.id,
    webhookId: message.webhookId,
    jobId: lease.id,
    success: isSuccess(attempt),
    responseStatus: outcome.status,
    text: outcome.text,
    durationMs: Math.round(outcome.durationMs),
    at,
    nextStatus: isSuccess(attempt) ? 'delivered' : retry === null ? 'failed' : 'waiting',
    nextJobId: retry?.jobId ?? null,
    nextAt: retry?.at ?? null,
  };
}

function toRetryJob(message: LoadedMessage, { jobId, delayMs }: Retry, failureCount: number): NewJob {
  const { workspaceId, webhookId, id: messageId } = message;
  return { id: jobId, workspaceId, webhookId, messageId, lane: 'slow', rank: toSlowRank(failureCount), delayMs };
}
