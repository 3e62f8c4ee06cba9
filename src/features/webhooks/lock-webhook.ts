/**
 * The checks that operations on one webhook share: that it exists, that the caller may change it, that it is active,
 * and that it subscribes to an event.
 */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflictForNow, notFound } from '../../core/errors.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, type RowOf, type Sql, statement, text, texts, time } from '../../db/statements.ts';

const lockStatement = statement('lock-webhook', {
  params: { workspaceId: int, webhookId: int },
  returns: { name: text, url: text, isActive: bool, events: texts, sealedSecret: bytes, createdAt: time },
  sql: `
    select name, url, is_active as "isActive", events, sealed_secret as "sealedSecret", created_at as "createdAt"
    from webhooks where workspace_id = $workspaceId and id = $webhookId for no key update`,
});

export type LockedWebhook = RowOf<typeof lockStatement>;

const webhookById = statement('find-webhook', {
  params: { workspaceId: int, webhookId: int },
  returns: { id: int },
  sql: 'select id from webhooks where workspace_id = $workspaceId and id = $webhookId',
});

/**
 * Locks the rows of the workspace and the webhook until the transaction ends. Throws 403 if the role is below admin,
 * and 404 if the webhook does not exist.
 */
export async function lockWebhook(tx: Tx, actor: Actor, webhookId: number): Promise<LockedWebhook> {
  await lockWorkspaceAs(tx, actor, 'admin');
  // The webhook's row must be locked too, because recording an attempt locks only that row.
  const [webhook] = await sqlIn(tx).run(lockStatement, { workspaceId: actor.workspaceId, webhookId });
  if (!webhook) throw notFound('Webhook');
  return webhook;
}

/** Throws 404 if the webhook does not exist. Call it when a read finds nothing. */
export async function requireWebhook(sql: Sql, workspaceId: number, webhookId: number): Promise<void> {
  const [webhook] = await sql.run(webhookById, { workspaceId, webhookId });
  if (!webhook) throw notFound('Webhook');
}

/** Throws 409 if the webhook is inactive. Lock the webhook first, so that it cannot be deactivated concurrently. */
export function requireActive({ isActive }: LockedWebhook): void {
  if (!isActive) throw conflictForNow('The webhook is inactive: activate it first');
}

/** Throws 409 if the webhook does not subscribe to the event of a message. Test messages need no subscription. */
export function requireSubscribed({ events }: LockedWebhook, event: string): void {
  if (event === 'webhook.test' || events.includes(event)) return;
  throw conflictForNow(`The webhook does not subscribe to ${event}: add it to events first`);
}
