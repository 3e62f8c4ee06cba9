/**
 * Pending messages: those with a further attempt scheduled. They have the status `waiting`. If an API request makes a
 * message pending, it has no job until the relay queues one.
 */

import { RELAY_CHANNEL } from '../db/event-signal.ts';
import { inBatches } from '../db/in-batches.ts';
import { notify } from '../db/notify.ts';
import { bool, int, json, type Sql, statement, text, texts, time } from '../db/statements.ts';
import { isErased } from '../events/erased-data.ts';
import type { MessageRef } from './held-messages.ts';
import type { DeliveryJob, WebhookRef } from './queue.ts';

/**
 * The SQL condition that the webhook `w` still wants the message `m`: it is active, and subscribes to the event. Test
 * messages need no subscription.
 */
export const isWanted = "(w.is_active and (m.event = any(w.events) or m.event = 'webhook.test'))";

const MAX_CANCELLED = 1_000;

/** The job of a message. */
export type JobRef = DeliveryJob & { id: string };

/** Wakes the relay as soon as the transaction commits, so that it queues the new pending messages. */
export async function wakeRelay(sql: Sql): Promise<void> {
  await notify(sql, RELAY_CHANNEL);
}

const roundParams = { at: time, workspaceId: int };

/** The assignments of a new round, the first attempt of which is at `$at`. It replaces an attempt that is pending. */
const newRound = `
  status = 'waiting', job_id = null, after_id = null, next_attempt_at = $at, round_attempts = 0, updated_at = $at`;

const startRoundStatement = statement('start-round-of-message', {
  params: { ...roundParams, id: text },
  returns: { id: text },
  sql: `update webhook_messages set ${newRound} where workspace_id = $workspaceId and id = $id returning id`,
});

/**
 * Starts a new round of attempts for a message, the first of them at `at`. An attempt that was pending before is
 * replaced. The caller has locked the row of its webhook, which must be active. Resolves with false if the message does
 * not exist.
 */
export async function startRound(sql: Sql, at: Date, { workspaceId, id }: MessageRef): Promise<boolean> {
  const started = await sql.run(startRoundStatement, { at, workspaceId, id });
  if (started.length > 0) await wakeRelay(sql);
  return started.length > 0;
}

const startUnsentStatement = statement('start-rounds-of-unsent', {
  params: { ...roundParams, ids: texts, events: texts },
  returns: { id: text },
  sql: `
    update webhook_messages set ${newRound}
    where workspace_id = $workspaceId and id = any($ids) and status in ('failed', 'cancelled')
      and (event = any($events) or event = 'webhook.test') and not ${isErased("(payload::jsonb->'data')")}
    returning id`,
});

/**
 * Like `startRound`, for those of the messages that have failed or were cancelled, that are about one of the events or
 * a test, and whose data has not been erased. Resolves with their number.
 */
export async function startUnsentRounds(
  sql: Sql,
  at: Date,
  unsent: { workspaceId: number; ids: readonly string[]; events: readonly string[] },
): Promise<number> {
  const started = await sql.run(startUnsentStatement, { at, ...unsent });
  if (started.length > 0) await wakeRelay(sql);
  return started.length;
}

/** Cancels up to one batch of the pending messages of a webhook that match a condition on `m` and `w`. */
function cancelBatchStatement(name: string, condition: string) {
  return statement(name, {
    params: { now: time, workspaceId: int, webhookId: int },
    returns: { workspaceId: int, id: text },
    sql: `
      update webhook_messages
      set status = 'cancelled', job_id = null, after_id = null, next_attempt_at = null, updated_at = $now
      where workspace_id = $workspaceId and id in
        (select m.id from webhook_messages m join webhooks w on w.workspace_id = m.workspace_id and w.id = m.webhook_id
         where m.workspace_id = $workspaceId and m.webhook_id = $webhookId and m.status = 'waiting' and ${condition}
         limit ${MAX_CANCELLED})
      returning workspace_id as "workspaceId", id`,
  });
}

const cancelAllBatch = cancelBatchStatement('cancel-messages', 'true');
const cancelUnwantedBatch = cancelBatchStatement('cancel-unwanted-messages', `not ${isWanted}`);

const setCancelling = statement('set-webhook-cancelling', {
  params: { workspaceId: int, webhookId: int, isCancelling: bool },
  sql: 'update webhooks set is_cancelling = $isCancelling where workspace_id = $workspaceId and id = $webhookId',
});

/**
 * Cancels the pending messages that a webhook no longer wants, after it was deactivated or unsubscribed from events.
 * Attempts in flight continue. Only a first batch is cancelled here: the relay cancels the rest, so that the caller
 * need not wait. The caller has locked and updated the webhook's row.
 */
export async function cancelUnwanted(sql: Sql, at: Date, webhook: WebhookRef): Promise<void> {
  const count = await cancelBatch(sql, cancelUnwantedBatch, at, webhook);
  if (count < MAX_CANCELLED) return;
  const { workspaceId, webhookId } = webhook;
  await sql.run(setCancelling, { workspaceId, webhookId, isCancelling: true });
  await wakeRelay(sql);
}

/** Resolves with the number of messages that it has cancelled. */
async function cancelBatch(
  sql: Sql,
  batch: typeof cancelAllBatch,
  now: Date,
  { workspaceId, webhookId }: WebhookRef,
): Promise<number> {
  const cancelled = await sql.run(batch, { now, workspaceId, webhookId });
  await releaseBehind(sql, cancelled);
  return cancelled.length;
}

const releaseStatement = statement('release-messages-behind-cancelled', {
  plansAnew: true,
  params: { cancelled: json<readonly MessageRef[]>() },
  returns: { id: text },
  sql: `
    update webhook_messages m set after_id = null
    from jsonb_to_recordset($cancelled) as c ("workspaceId" int, id text)
    where m.workspace_id = c."workspaceId" and m.after_id = c.id
    returning m.id`,
});

/** Releases the messages that are held behind cancelled ones. The relay queues them. */
async function releaseBehind(sql: Sql, cancelled: readonly MessageRef[]): Promise<void> {
  if (cancelled.length === 0) return;
  const released = await sql.run(releaseStatement, { cancelled });
  if (released.length > 0) await wakeRelay(sql);
}

/**
 * Cancels the messages that were pending when the webhook was deactivated and are still pending. Call it before
 * activating the webhook, so that none of them is sent.
 */
export async function cancelRemaining(sql: Sql, at: Date, webhook: WebhookRef): Promise<void> {
  await inBatches(MAX_CANCELLED, () => cancelBatch(sql, cancelAllBatch, at, webhook));
  await sql.run(setCancelling, { ...webhook, isCancelling: false });
}

const lockCancelling = statement('lock-cancelling-webhook', {
  params: {},
  returns: { workspaceId: int, webhookId: int },
  sql: `
    select workspace_id as "workspaceId", id as "webhookId" from webhooks
    where is_cancelling order by workspace_id, id limit 1 for no key update skip locked`,
});

/**
 * Cancels the next batch of messages of one webhook that still has messages to cancel. Resolves with false if there is
 * none.
 */
export async function continueCancelling(sql: Sql, at: Date): Promise<boolean> {
  const [webhook] = await sql.run(lockCancelling, {});
  if (!webhook) return false;
  const count = await cancelBatch(sql, cancelUnwantedBatch, at, webhook);
  if (count < MAX_CANCELLED) await sql.run(setCancelling, { ...webhook, isCancelling: false });
  return true;
}

const cancelUnwantedJobs = statement('cancel-unwanted-jobs', {
  plansAnew: true,
  params: { now: time, jobs: json<readonly JobRef[]>() },
  returns: { workspaceId: int, id: text },
  sql: `
    update webhook_messages m
    set status = 'cancelled', job_id = null, after_id = null, next_attempt_at = null, updated_at = $now
    from jsonb_to_recordset($jobs) as j (id uuid, "workspaceId" int, "messageId" text), webhooks w
    where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id and m.status = 'waiting'
      and w.workspace_id = m.workspace_id and w.id = m.webhook_id and not ${isWanted}
    returning m.workspace_id as "workspaceId", m.id`,
});

/**
 * Cancels the messages of these jobs that their webhook no longer wants. Such messages exist if an event was relayed
 * while its webhook was being deactivated or its subscription removed. The caller has locked the webhooks: see
 * held-messages.ts.
 */
export async function cancelIfUnwanted(sql: Sql, now: Date, jobs: readonly JobRef[]): Promise<void> {
  await releaseBehind(sql, await sql.run(cancelUnwantedJobs, { now, jobs }));
}
