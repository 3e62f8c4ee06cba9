/** The webhooks of a workspace: who receives which events. */
import { randomBytes } from 'node:crypto';
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { isForeignKeyViolation, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import type { CreatedWebhook, CreateWebhookInput, UpdateWebhookInput, Webhook, WebhookInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 24;

const webhookColumns = {
  id: true,
  workspaceId: true,
  name: true,
  url: true,
  events: true,
  isActive: true,
  createdBy: true,
  createdAt: true,
  updatedAt: true,
  lastDeliveryAt: true,
  failureCount: true,
  disabledReason: true,
} as const;

type WebhookRow = {
  id: number;
  workspaceId: number;
  name: string;
  url: string;
  events: string[];
  isActive: boolean;
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
  lastDeliveryAt: Date | null;
  failureCount: number;
  disabledReason: string | null;
};

const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  workspace_id: row.workspaceId,
  name: row.name,
  url: row.url,
  events: JSON.stringify(row.events),
  is_active: row.isActive ? 1 : 0,
  created_by: row.createdBy,
  created_at: toUnixSeconds(row.createdAt),
  updated_at: toUnixSeconds(row.updatedAt),
  last_delivery_at: row.lastDeliveryAt && toUnixSeconds(row.lastDeliveryAt),
  failure_count: row.failureCount,
  disabled_reason: row.disabledReason,
});

/** All webhooks, oldest first; never their secrets. */
export const listWebhooks = async ({ db }: Db, { workspaceId }: Actor): Promise<Webhook[]> => {
  const rows = await db.webhook.findMany({
    where: { workspaceId },
    select: webhookColumns,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(toWebhook);
};

/** Registers a webhook, active. Its secret is known to the answer alone: the database keeps it sealed. */
export const createWebhook = async (
  { db, clock, sealer }: Pick<Services, 'db' | 'clock' | 'sealer'>,
  { workspaceId, userId }: Actor,
  { name, url, events }: CreateWebhookInput,
): Promise<CreatedWebhook> => {
  const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  const now = clock.now();
  try {
    const row = await db.webhook.create({
      data: {
        workspaceId,
        name,
        url,
        events,
        sealedSecret: sealer.seal(secret, { workspaceId, purpose: 'webhook secret' }),
        createdBy: userId,
        createdAt: now,
        updatedAt: now,
      },
      select: webhookColumns,
    });
    return { ...toWebhook(row), secret };
  } catch (error) {
    // The workspace was deleted after the caller was let in.
    if (isForeignKeyViolation(error)) throw notFound('Workspace');
    throw error;
  }
};

/**
 * Changes what is sent; `toggle: true` flips, however many do so at once. Activating forgets earlier failures and why the
 * service deactivated the webhook. Throws 404.
 */
export const updateWebhook = async (
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  { webhookId, toggle = false, name, url, events }: UpdateWebhookInput,
): Promise<Webhook> =>
  transact(db, async (tx) => {
    const [current] = await tx.$queryRaw<{ isActive: boolean }[]>`
      select is_active as "isActive" from webhooks
      where workspace_id = ${workspaceId} and id = ${webhookId} for no key update`;
    if (!current) throw notFound('Webhook');
    const data = {
      ...(name !== undefined && { name }),
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events }),
      ...(toggle && { isActive: !current.isActive }),
      ...(toggle && !current.isActive && { failureCount: 0, disabledReason: null }),
    };
    const isChanged = Object.keys(data).length > 0;
    const row = await tx.webhook.update({
      where: { workspaceId_id: { workspaceId, id: webhookId } },
      data: { ...data, ...(isChanged && { updatedAt: clock.now() }) },
      select: webhookColumns,
    });
    return toWebhook(row);
  });

/** Deletes a webhook with its deliveries. Throws 404. */
export const deleteWebhook = async (
  { db }: Db,
  { workspaceId }: Actor,
  { webhookId }: WebhookInput,
): Promise<{ ok: true }> => {
  const { count } = await db.webhook.deleteMany({ where: { workspaceId, id: webhookId } });
  if (count === 0) throw notFound('Webhook');
  return { ok: true };
};
