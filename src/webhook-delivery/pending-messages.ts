/**
 * Pending messages: those with a further attempt scheduled. They have the status `waiting`. A message that an API
 * request has made pending has no job until the relay queues one.
 */
import { Prisma, type Tx } from '../db/client.ts';
import type { MessageRef } from './held-messages.ts';
import type { WebhookRef } from './queue.ts';

/**
 * The SQL condition that the webhook `w` still wants the message `m`: it is active, and subscribes to the event. Test
 * messages need no subscription.
 */
export const isWanted = "(w.is_active and (m.event = any(w.events) or m.event = 'webhook.test'))";
const isUnwanted = Prisma.raw(`not ${isWanted}`);

/** NOTIFY on this channel wakes the relay. The trigger on `events` uses it too. */
export const RELAY_CHANNEL = 'lynxroom_relay';

const MAX_CANCELLED = 1_000;

/** Makes the relay queue new pending messages as soon as the transaction commits. */
export async function wakeRelay(tx: Tx): Promise<void> {
  await tx.$executeRaw`select pg_notify(${RELAY_CHANNEL}, '')`;
}

/**
 * Starts a new round of attempts, the first of them at `at`, for the messages that match a condition on
 * `webhook_messages`. An attempt that was pending before is replaced. The caller has locked the row of their webhook,
 * which must be active. Resolves with the number of messages.
 */
export async function startRounds(tx: Tx, at: Date, condition: Prisma.Sql): Promise<number> {
  const count = await tx.$executeRaw(Prisma.sql`
    update webhook_messages
    set status = 'waiting', job_id = null, after_id = null, next_attempt_at = ${at}, round_attempts = 0,
      updated_at = ${at}
    where ${condition}`);
  if (count > 0) await wakeRelay(tx);
  return count;
}

/**
 * Cancels the pending messages that a webhook no longer wants, after it was deactivated or unsubscribed from events.
 * Attempts in flight continue. Only a first batch is cancelled here: the relay cancels the rest, so that the caller
 * need not wait. The caller has locked and updated the webhook's row.
 */
export async function cancelUnwanted(tx: Tx, at: Date, webhook: WebhookRef): Promise<void> {
  const count = await cancelBatch(tx, at, webhook, isUnwanted);
  if (count < MAX_CANCELLED) return;
  const { workspaceId, webhookId } = webhook;
  await tx.$executeRaw`
    update webhooks set is_cancelling = true where workspace_id = ${workspaceId} and id = ${webhookId}`;
  await wakeRelay(tx);
}

/** Cancels pending messages that match a condition on `m` and `w`. Resolves with how many it has cancelled. */
async function cancelBatch(
  tx: Tx,
  at: Date,
  { workspaceId, webhookId }: WebhookRef,
  condition: Prisma.Sql,
): Promise<number> {
  const cancelled = await tx.$queryRaw<{ id: string }[]>`
    update webhook_messages
    set status = 'cancelled', job_id = null, after_id = null, next_attempt_at = null, updated_at = ${at}
    where workspace_id = ${workspaceId} and id in
      (select m.id from webhook_messages m join webhooks w on w.workspace_id = m.workspace_id and w.id = m.webhook_id
       where m.workspace_id = ${workspaceId} and m.webhook_id = ${webhookId} and m.status = 'waiting' and ${condition}
       limit ${MAX_CANCELLED})
    returning id`;
  await releaseBehind(
    tx,
    cancelled.map(({ id }) => ({ workspaceId, id })),
  );
  return cancelled.length;
}

/** Releases the messages that are held behind cancelled ones. The relay queues them. */
async function releaseBehind(tx: Tx, cancelled: readonly MessageRef[]): Promise<void> {
  if (cancelled.length === 0) return;
  const count = await tx.$executeRaw`
    update webhook_messages m set after_id = null
    from json_to_recordset(${JSON.stringify(cancelled)}::json) as c ("workspaceId" int, id text)
    where m.workspace_id = c."workspaceId" and m.after_id = c.id`;
  if (count > 0) await wakeRelay(tx);
}

/**
 * Cancels the messages that were pending when the webhook was deactivated and still are. Call it before activating the
 * webhook, so that none of them is sent.
 */
export async function cancelRemaining(tx: Tx, at: Date, webhook: WebhookRef): Promise<void> {
  while ((await cancelBatch(tx, at, webhook, Prisma.sql`true`)) === MAX_CANCELLED);
  await endCancelling(tx, webhook);
}

async function endCancelling(tx: Tx, { workspaceId, webhookId }: WebhookRef): Promise<void> {
  await tx.$executeRaw`
    update webhooks set is_cancelling = false where workspace_id = ${workspaceId} and id = ${webhookId}`;
}

/** Cancels the next batch of one webhook whose cancellation is not complete. Resolves with false if there is none. */
export async function continueCancelling(tx: Tx, at: Date): Promise<boolean> {
  const [webhook] = await tx.$queryRaw<WebhookRef[]>`
    select workspace_id as "workspaceId", id as "webhookId" from webhooks
    where is_cancelling order by workspace_id, id limit 1 for no key update skip locked`;
  if (!webhook) return false;
  const count = await cancelBatch(tx, at, webhook, isUnwanted);
  if (count < MAX_CANCELLED) await endCancelling(tx, webhook);
  return true;
}

/**
 * Cancels the messages of these jobs that their webhook no longer wants. An event that is relayed while its webhook is
 * being deactivated or unsubscribed leaves such messages. The caller has locked the webhooks: see held-messages.ts.
 */
export async function cancelIfUnwanted(
  tx: Tx,
  at: Date,
  jobs: readonly { id: string; workspaceId: number; messageId: string }[],
): Promise<void> {
  const keys = JSON.stringify(jobs);
  const cancelled = await tx.$queryRaw<MessageRef[]>`
    update webhook_messages m
    set status = 'cancelled', job_id = null, after_id = null, next_attempt_at = null, updated_at = ${at}
    from json_to_recordset(${keys}::json) as j (id uuid, "workspaceId" int, "messageId" text), webhooks w
    where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id and m.status = 'waiting'
      and w.workspace_id = m.workspace_id and w.id = m.webhook_id and ${isUnwanted}
    returning m.workspace_id as "workspaceId", m.id`;
  await releaseBehind(tx, cancelled);
}
