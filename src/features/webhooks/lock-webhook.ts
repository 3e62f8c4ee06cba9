/** What every change of one webhook, everything that is to be sent to it, and what is read of it, asks of it. */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import type { Tx } from '../../db/client.ts';

export type LockedWebhook = { name: string; isActive: boolean; sealedSecret: Uint8Array<ArrayBuffer> };

/** Takes the workspace's row and the webhook's until the transaction ends, for an admin. Throws 403 and 404. */
export async function lockWebhook(tx: Tx, actor: Actor, webhookId: number): Promise<LockedWebhook> {
  await lockWorkspaceAs(tx, actor, 'admin');
  // Its own row too: who records attempts takes that one alone.
  const [webhook] = await tx.$queryRaw<LockedWebhook[]>`
    select name, is_active as "isActive", sealed_secret as "sealedSecret" from webhooks
    where workspace_id = ${actor.workspaceId} and id = ${webhookId} for no key update`;
  if (!webhook) throw notFound('Webhook');
  return webhook;
}

/** Throws 404 where there is no such webhook: for reads that found nothing. */
export async function requireWebhook(db: Tx, workspaceId: number, webhookId: number): Promise<void> {
  const webhook = await db.webhook.findFirst({ where: { workspaceId, id: webhookId }, select: { id: true } });
  if (webhook === null) throw notFound('Webhook');
}

/** Throws 409 for a webhook to which nothing is sent. Behind its lock: switching it off cancels what waits. */
export function requireActive({ isActive }: LockedWebhook): void {
  if (!isActive) throw conflict('The webhook is inactive: activate it first');
}
