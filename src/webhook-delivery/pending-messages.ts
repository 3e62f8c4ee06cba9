/**
 * Pending messages: those with a further attempt scheduled. They have the status `waiting`. A message that an API
 * request has made pending has no job until the relay queues one.
 */
import { Prisma, type Tx } from '../db/client.ts';
import type { WebhookRef } from './queue.ts';

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
    set status = 'waiting', job_id = null, next_attempt_at = ${at}, round_attempts = 0, updated_at = ${at}
    where ${condition}`);
  if (count > 0) await wakeRelay(tx);
  return count;
}

/**
 * Cancels the pending messages of a webhook that is being deactivated. Attempts in flight continue. Only a first batch
 * is cancelled here: the relay cancels the rest, so that the caller need not wait. The caller has locked the webhook's
 * row.
 */
export async function cancelPending(tx: Tx, at: Date, webhook: WebhookRef): Promise<void> {
  const count = await cancelBatch(tx, at, webhook);
  if (count < MAX_CANCELLED) return;
  const { workspaceId, webhookId } = webhook;
  await tx.$executeRaw`
    update webhooks set is_cancelling = true where workspace_id = ${workspaceId} and id = ${webhookId}`;
  await wakeRelay(tx);
}

/** Resolves with the number of messages that it has cancelled. */
async function cancelBatch(tx: Tx, at: Date, { workspaceId, webhookId }: WebhookRef): Promise<number> {
  return tx.$executeRaw`
    update webhook_messages set status = 'cancelled', job_id = null, next_attempt_at = null, updated_at = ${at}
    where workspace_id = ${workspaceId} and id in
      (select id from webhook_messages
       where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and status = 'waiting'
       limit ${MAX_CANCELLED})`;
}

/**
 * Cancels the messages that were pending when the webhook was deactivated and still are. Call it before activating the
 * webhook, so that none of them is sent.
 */
export async function cancelRemaining(tx: Tx, at: Date, webhook: WebhookRef): Promise<void> {
  while ((await cancelBatch(tx, at, webhook)) === MAX_CANCELLED);
  const { workspaceId, webhookId } = webhook;
  await tx.$executeRaw`
    update webhooks set is_cancelling = false where workspace_id = ${workspaceId} and id = ${webhookId}`;
}

/** Cancels the next batch of one webhook whose cancellation is not complete. Resolves with false if there is none. */
export async function continueCancelling(tx: Tx, at: Date): Promise<boolean> {
  const [webhook] = await tx.$queryRaw<WebhookRef[]>`
    select workspace_id as "workspaceId", id as "webhookId" from webhooks
    where is_cancelling order by workspace_id, id limit 1 for no key update skip locked`;
  if (!webhook) return false;
  if ((await cancelBatch(tx, at, webhook)) < MAX_CANCELLED) await cancelRemaining(tx, at, webhook);
  return true;
}

/**
 * Cancels the messages of these jobs whose webhook is inactive. An event that is relayed while its webhook is being
 * deactivated leaves such messages.
 */
export async function cancelIfInactive(
  tx: Tx,
  at: Date,
  jobs: readonly { id: string; workspaceId: number; messageId: string }[],
): Promise<void> {
  await tx.$executeRaw`
    update webhook_messages m set status = 'cancelled', job_id = null, next_attempt_at = null, updated_at = ${at}
    from json_to_recordset(${JSON.stringify(jobs)}::json) as j (id uuid, "workspaceId" int, "messageId" text),
      webhooks w
    where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j.id and m.status = 'waiting'
      and w.workspace_id = m.workspace_id and w.id = m.webhook_id and not w.is_active`;
}
