/** The webhooks of a workspace: who receives which events. */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField, notFound } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { cancelPending, cancelRemaining } from '../../webhook-delivery/pending-messages.ts';
import { lockWebhook } from './lock-webhook.ts';
import { toWebhook, webhookColumns } from './present.ts';
import type { CreateWebhookInput, UpdateWebhookInput, Webhook, WebhookInput, WebhookWithSecret } from './schemas.ts';
import { createSecret, sealSecret } from './secrets.ts';

/** Whoever activates a webhook starts afresh with it. */
const ACTIVATED = { failureCount: 0, disabledReason: null, failingSince: null, isSlow: false } as const;

/** All webhooks, oldest first; never their secrets. */
export async function listWebhooks(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
): Promise<Webhook[]> {
  const rows = await db.webhook.findMany({
    where: { workspaceId },
    select: webhookColumns,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const now = clock.now();
  return rows.map((row) => toWebhook(row, now));
}

/**
 * Registers a webhook, active. Its secret is known to the answer alone: the database keeps it sealed. Throws 400 for an
 * address that nothing may be sent to, and 403 and 404 for who was demoted or removed, or whose workspace was deleted,
 * since they were let in.
 */
export async function createWebhook(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'addressGuard'>,
  actor: Actor,
  { name, url, events }: CreateWebhookInput,
): Promise<WebhookWithSecret> {
  const { db, clock, sealer } = services;
  const { workspaceId, userId } = actor;
  await requireReachable(services, url);
  const secret = createSecret();
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    const now = clock.now();
    const row = await tx.webhook.create({
      data: {
        workspaceId,
        name,
        url,
        events,
        sealedSecret: sealSecret(sealer, workspaceId, secret),
        createdBy: userId,
        createdAt: now,
        updatedAt: now,
      },
      select: webhookColumns,
    });
    return { ...toWebhook(row, now), secret };
  });
}

/** Throws 400 for an address to which nothing is ever sent. It may ask the DNS: never inside a transaction. */
async function requireReachable({ addressGuard }: Pick<Services, 'addressGuard'>, url: string): Promise<void> {
  const refusal = await addressGuard.refusalOf(url);
  if (refusal !== null) throw badField('url', refusal);
}

/**
 * Changes what is sent; `toggle: true` flips, however many do so at once, and `is_active` sets. Activating forgets earlier failures and why the
 * service deactivated the webhook; deactivating cancels every message that waits. A new address is where the next attempt
 * goes, also of what waits already. Throws 404, and 400, 403 and 404 as `createWebhook`.
 */
export async function updateWebhook(
  services: Pick<Services, 'db' | 'clock' | 'addressGuard'>,
  actor: Actor,
  { webhookId, toggle = false, is_active, name, url, events }: UpdateWebhookInput,
): Promise<Webhook> {
  const { db, clock } = services;
  const { workspaceId } = actor;
  if (url !== undefined) await requireReachable(services, url);
  return transact(db, async (tx) => {
    const { isActive } = await lockWebhook(tx, actor, webhookId);
    const now = clock.now();
    const wanted = is_active === undefined ? isActive !== toggle : Boolean(is_active);
    const isSwitched = wanted !== isActive;
    if (isSwitched) await (isActive ? cancelPending : cancelRemaining)(tx, now, { workspaceId, webhookId });
    const data = {
      ...(name !== undefined && { name }),
      // What the old address did says nothing of this one.
      ...(url !== undefined && { url, failingSince: null, isSlow: false }),
      ...(events !== undefined && { events }),
      ...(isSwitched && { isActive: wanted }),
      ...(isSwitched && wanted && ACTIVATED),
    };
    const isChanged = Object.keys(data).length > 0;
    const row = await tx.webhook.update({
      where: { workspaceId_id: { workspaceId, id: webhookId } },
      data: { ...data, ...(isChanged && { updatedAt: now }) },
      select: webhookColumns,
    });
    return toWebhook(row, now);
  });
}

/** Deletes a webhook with its messages and deliveries; nothing more is sent. Throws 404, and 403 and 404 as `createWebhook`. */
export async function deleteWebhook(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  { webhookId }: WebhookInput,
): Promise<{ ok: true }> {
  const { count } = await transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'owner');
    return tx.webhook.deleteMany({ where: { workspaceId: actor.workspaceId, id: webhookId } });
  });
  if (count === 0) throw notFound('Webhook');
  return { ok: true };
}
