import { Prisma, type Tx } from '../db/client.ts';
import { toWebhookKey, type WebhookRef } from './queue.ts';
import type { WebhookHealth } from './webhook-health.ts';

export type LockedWebhooks = {
  webhooks: WebhookHealth[];
  /** Whether another transaction is deleting the webhook, so that it is not locked. */
  isBeingDeleted(webhook: WebhookRef): boolean;
};

/**
 * Locks webhooks, in the order of their ids, so that two workers that lock the same webhooks cannot deadlock. Does not
 * wait for the deletion of a webhook, which can take minutes and may be rolled back: the caller leaves what concerns
 * such a webhook for later. Waits for other changes of webhooks, which are short.
 */
export async function lockWebhooks(tx: Tx, refs: readonly WebhookRef[]): Promise<LockedWebhooks> {
  const deleting = await blockDeletion(tx, refs);
  const isBeingDeleted = (webhook: WebhookRef): boolean => deleting.has(toWebhookKey(webhook));
  const webhooks = await tx.$queryRaw<WebhookHealth[]>`
    select w.workspace_id as "workspaceId", w.id as "webhookId", w.url, w.is_active as "isActive",
      w.failure_count as "failureCount", w.failing_since as "failingSince", w.last_delivery_at as "lastDeliveryAt",
      w.is_slow as "isSlow"
    from webhooks w where ${isOneOf(refs.filter((webhook) => !isBeingDeleted(webhook)))}
    order by w.workspace_id, w.id for no key update`;
  return { webhooks, isBeingDeleted };
}

/** Locks webhooks against deletion, and returns the keys of those that another transaction is deleting already. */
async function blockDeletion(tx: Tx, refs: readonly WebhookRef[]): Promise<Set<string>> {
  const unlocked = new Map(refs.map((webhook) => [toWebhookKey(webhook), webhook]));
  const locked = await tx.$queryRaw<WebhookRef[]>`
    select w.workspace_id as "workspaceId", w.id as "webhookId" from webhooks w where ${isOneOf(refs)}
    order by w.workspace_id, w.id for key share skip locked`;
  for (const webhook of locked) unlocked.delete(toWebhookKey(webhook));
  if (unlocked.size === 0) return new Set();
  // Until the deletion is committed, its webhooks can still be read.
  const existing = await tx.$queryRaw<WebhookRef[]>`
    select w.workspace_id as "workspaceId", w.id as "webhookId" from webhooks w
    where ${isOneOf([...unlocked.values()])}`;
  return new Set(existing.map(toWebhookKey));
}

/** The SQL condition that the webhook `w` is one of these. */
function isOneOf(refs: readonly WebhookRef[]): Prisma.Sql {
  const keys = JSON.stringify(refs.map(({ workspaceId, webhookId }) => ({ workspaceId, webhookId })));
  return Prisma.sql`(w.workspace_id, w.id) in
    (select "workspaceId", "webhookId"
     from json_to_recordset(${keys}::json) as k ("workspaceId" int, "webhookId" int))`;
}
