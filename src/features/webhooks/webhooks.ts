/** The webhooks of a workspace. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField, notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { transact } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, nullable, statement, text, time } from '../../db/statements.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import { requireFreeRow } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { toHost } from '../../webhook-delivery/host-limits.ts';
import { cancelRemaining, cancelUnwanted } from '../../webhook-delivery/pending-messages.ts';
import { type LockedWebhook, lockWebhook } from './lock-webhook.ts';
import { toWebhook, webhookColumns } from './present.ts';
import type { CreateWebhookInput, UpdateWebhookInput, Webhook, WebhookInput, WebhookWithSecret } from './schemas.ts';
import { createSecret, sealSecret } from './secrets.ts';

/** Activating a webhook resets its health. */
const ACTIVATED = { failureCount: 0, disabledReason: null, failingSince: null, isSlow: false } as const;

const webhooksOf = pagedList('list-webhooks', {
  order: byTime('w.created_at', 'id', 'asc'),
  params: { workspaceId: int, now: time },
  returns: {
    id: int,
    workspace_id: int,
    name: text,
    url: text,
    events: text,
    is_active: int,
    created_by: nullable(int),
    created_at: float,
    updated_at: float,
    last_delivery_at: nullable(float),
    failure_count: int,
    disabled_reason: nullable(text),
    previous_secret_expires_at: nullable(float),
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select id, workspace_id, name, url, to_json(events)::text as events, ${flagOf('is_active')} as is_active,
      created_by, ${secondsOf('w.created_at')} as created_at, ${secondsOf('updated_at')} as updated_at,
      ${secondsOf('last_delivery_at')} as last_delivery_at, failure_count, disabled_reason,
      case when previous_secret_until > $now then ${secondsOf('previous_secret_until')} end
        as previous_secret_expires_at, ${timeKeyOf('w.created_at')}
    from webhooks w
    where workspace_id = $workspaceId ${after} ${window}`,
});

const removeWebhook = statement('delete-webhook', {
  params: { workspaceId: int, webhookId: int, ...auditParams },
  returns: { id: int },
  sql: `
    with deleted as (
      delete from webhooks where workspace_id = $workspaceId and id = $webhookId returning id, name, url),
    audited as (${insertAuditFrom('deleted', {
      target: 'webhook',
      action: 'webhook.deleted',
      targetId: 'id',
      details: "json_build_object('name', name, 'before', json_build_object('url', url))",
    })})
    select id from deleted`,
});

/** Lists the webhooks of the workspace, oldest first, without their secrets. */
export function listWebhooks(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  page: ListPageInput,
): Promise<Page<Webhook>> {
  return readPage(db.sql, webhooksOf, { workspaceId, now: clock.now() }, page, [workspaceId]);
}

/**
 * Creates an active webhook. The secret is returned only here, and the database stores it sealed. Throws 400 for a URL
 * that is not allowed, 403 if the actor is no longer the owner or an admin, 404 if the workspace has been deleted, and
 * 409 if the workspace has reached its quota.
 */
export async function createWebhook(
  services: Pick<Services, 'db' | 'clock' | 'sealer' | 'addressGuard' | 'settings'>,
  actor: Actor,
  { name, url, events }: CreateWebhookInput,
): Promise<WebhookWithSecret> {
  const { db, clock, sealer } = services;
  const { workspaceId, userId } = actor;
  await requireAllowedUrl(services, url);
  const secret = createSecret();
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    await requireFreeRow(tx, services.settings.quotas, 'webhooks', workspaceId);
    const now = clock.now();
    const row = await tx.webhook.create({
      data: {
        workspaceId,
        name,
        url,
        host: toHost(url),
        events,
        sealedSecret: sealSecret(sealer, workspaceId, secret),
        createdBy: userId,
        createdAt: now,
        updatedAt: now,
      },
      select: webhookColumns,
    });
    await recordAudit(tx, {
      workspaceId,
      at: now,
      actor: auditActorOf(actor),
      action: 'webhook.created',
      target: { kind: 'webhook', id: row.id, name },
      after: { url, events },
    });
    return { ...toWebhook(row, now), secret };
  });
}

/** Throws 400 for a URL that is not allowed. Do not call it in a transaction, because it may query DNS. */
async function requireAllowedUrl({ addressGuard }: Pick<Services, 'addressGuard'>, url: string): Promise<void> {
  const refusal = await addressGuard.refusalOf(url);
  if (refusal !== null) throw badField('url', refusal);
}

/**
 * Updates the fields that are present in the input. `toggle: true` inverts `is_active`; each of several concurrent
 * calls inverts it once. Activating resets the failures and `disabled_reason`. Deactivating cancels all pending
 * messages; removing events cancels the pending messages of those events. If the URL changes, pending messages go to
 * the new URL. Throws 400 for a URL that is not allowed, 403 if the actor is no longer the owner or an admin, and 404.
 */
export async function updateWebhook(
  services: Pick<Services, 'db' | 'clock' | 'addressGuard'>,
  actor: Actor,
  { webhookId, toggle = false, is_active, name, url, events }: UpdateWebhookInput,
): Promise<Webhook> {
  const { db, clock } = services;
  const { workspaceId } = actor;
  if (url !== undefined) await requireAllowedUrl(services, url);
  return transact(db, async (tx) => {
    const old = await lockWebhook(tx, actor, webhookId);
    const { isActive } = old;
    const now = clock.now();
    const nextIsActive = is_active === undefined ? isActive !== toggle : Boolean(is_active);
    const isSwitched = nextIsActive !== isActive;
    if (isSwitched && nextIsActive) await cancelRemaining(sqlIn(tx), now, { workspaceId, webhookId });
    const data = {
      ...(name !== undefined && { name }),
      // The health of the old receiver does not apply to the new one.
      ...(url !== undefined && { url, host: toHost(url), failingSince: null, isSlow: false }),
      ...(events !== undefined && { events }),
      ...(isSwitched && { isActive: nextIsActive }),
      ...(isSwitched && nextIsActive && ACTIVATED),
    };
    const isChanged = Object.keys(data).length > 0;
    const row = await tx.webhook.update({
      where: { workspaceId_id: { workspaceId, id: webhookId } },
      data: { ...data, ...(isChanged && { updatedAt: now }) },
      select: webhookColumns,
    });
    const changes = toChanges(old, data);
    if (changes !== null)
      await recordAudit(tx, {
        workspaceId,
        at: now,
        actor: auditActorOf(actor),
        action: isSwitched ? (nextIsActive ? 'webhook.activated' : 'webhook.deactivated') : 'webhook.updated',
        target: { kind: 'webhook', id: webhookId, name: row.name },
        ...changes,
      });
    const mayBeUnwanted = events !== undefined || (isSwitched && !nextIsActive);
    if (mayBeUnwanted) await cancelUnwanted(sqlIn(tx), now, { workspaceId, webhookId });
    return toWebhook(row, now);
  });
}

type Recorded = Pick<LockedWebhook, 'name' | 'url' | 'events' | 'isActive'>;

/** Returns the changed fields with their old and new values, or null if nothing changed. */
function toChanges(old: Recorded, data: Partial<Recorded>) {
  const names = (['name', 'url', 'events', 'isActive'] as const).filter(
    (name) => data[name] !== undefined && String(data[name]) !== String(old[name]),
  );
  if (names.length === 0) return null;
  const pick = (from: Partial<Recorded>) =>
    Object.fromEntries(names.map((name) => [name === 'isActive' ? 'is_active' : name, from[name]]));
  return { before: pick(old), after: pick(data) };
}

/** Deletes a webhook with its messages and deliveries. Throws 404, and 403 if the actor is no longer the owner. */
export async function deleteWebhook(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { webhookId }: WebhookInput,
): Promise<{ ok: true }> {
  const remove = () =>
    transact(db, async (tx) => {
      await lockWorkspaceAs(tx, actor, 'owner');
      const audit = toAuditParams(auditActorOf(actor), clock.now());
      return sqlIn(tx).run(removeWebhook, { workspaceId: actor.workspaceId, webhookId, ...audit });
    });
  const rows = await allowLongStatements(remove);
  if (rows.length === 0) throw notFound('Webhook');
  return { ok: true };
}
