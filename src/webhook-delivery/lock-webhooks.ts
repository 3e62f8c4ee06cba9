import type { Sql } from '../db/statements.ts';
import { bool, int, json, nullable, statement, text, time } from '../db/statements.ts';
import { toWebhookKey, type WebhookRef } from './queue.ts';
import type { WebhookHealth } from './webhook-health.ts';

export type LockedWebhooks = {
  webhooks: WebhookHealth[];
  /** Whether another transaction is deleting the webhook. If so, the webhook is not locked. */
  isBeingDeleted(webhook: WebhookRef): boolean;
};

const lockStatement = statement('lock-webhooks', {
  plansAnew: true,
  params: { refs: json<WebhookRef[]>() },
  returns: {
    workspaceId: int,
    webhookId: int,
    url: text,
    isActive: bool,
    failureCount: int,
    failingSince: nullable(time),
    lastDeliveryAt: nullable(time),
    isSlow: bool,
  },
  // The first lock skips webhooks that are being deleted, because a deletion conflicts with it. The second lock waits
  // for other changes.
  sql: `
    with existing as materialized (
      select w.workspace_id, w.id from jsonb_to_recordset($refs) as k ("workspaceId" int, "webhookId" int)
      join webhooks w on w.workspace_id = k."workspaceId" and w.id = k."webhookId"
      order by w.workspace_id, w.id for key share of w skip locked)
    select w.workspace_id as "workspaceId", w.id as "webhookId", w.url, w.is_active as "isActive",
      w.failure_count as "failureCount", w.failing_since as "failingSince", w.last_delivery_at as "lastDeliveryAt",
      w.is_slow as "isSlow"
    from existing e join webhooks w on w.workspace_id = e.workspace_id and w.id = e.id
    order by w.workspace_id, w.id for no key update of w`,
});

const findExisting = statement('find-existing-webhooks', {
  plansAnew: true,
  params: { refs: json<WebhookRef[]>() },
  returns: { workspaceId: int, webhookId: int },
  sql: `
    select w.workspace_id as "workspaceId", w.id as "webhookId"
    from jsonb_to_recordset($refs) as k ("workspaceId" int, "webhookId" int)
    join webhooks w on w.workspace_id = k."workspaceId" and w.id = k."webhookId"`,
});

/**
 * Locks webhooks, in the order of their ids, so that two workers that lock the same webhooks cannot deadlock. Does not
 * wait for the deletion of a webhook, which can take minutes and may be rolled back: the caller postpones the work for
 * such a webhook. Waits for other changes to webhooks, which take little time.
 */
export async function lockWebhooks(sql: Sql, refs: readonly WebhookRef[]): Promise<LockedWebhooks> {
  const unlocked = new Map(
    refs.map(({ workspaceId, webhookId }) => [toWebhookKey({ workspaceId, webhookId }), { workspaceId, webhookId }]),
  );
  const webhooks = await sql.run(lockStatement, { refs: [...unlocked.values()] });
  for (const webhook of webhooks) unlocked.delete(toWebhookKey(webhook));
  // Until a deletion is committed, its webhooks can still be read.
  const existing = unlocked.size > 0 ? await sql.run(findExisting, { refs: [...unlocked.values()] }) : [];
  const deleting = new Set(existing.map(toWebhookKey));
  return { webhooks, isBeingDeleted: (webhook) => deleting.has(toWebhookKey(webhook)) };
}
