/** What became of the events that a webhook was sent. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Services } from '../../services.ts';
import type { ListDeliveriesInput, WebhookDelivery } from './schemas.ts';

const deliveryColumns = {
  id: true,
  webhookId: true,
  deliveryId: true,
  attempt: true,
  event: true,
  payload: true,
  responseStatus: true,
  responseBody: true,
  success: true,
  createdAt: true,
} as const;

type DeliveryRow = {
  id: bigint;
  webhookId: number;
  deliveryId: string;
  attempt: number;
  event: string;
  payload: string;
  responseStatus: number;
  responseBody: string;
  success: boolean;
  createdAt: Date;
};

const toDelivery = (row: DeliveryRow): WebhookDelivery => ({
  id: Number(row.id),
  webhook_id: row.webhookId,
  delivery_id: row.deliveryId,
  attempt: row.attempt,
  event: row.event,
  payload: row.payload,
  response_status: row.responseStatus,
  response_body: row.responseBody,
  success: row.success ? 1 : 0,
  created_at: toUnixSeconds(row.createdAt),
});

/** Attempts to deliver to one webhook, newest first. Throws 404. */
export const listDeliveries = async (
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, limit, offset }: ListDeliveriesInput,
): Promise<WebhookDelivery[]> => {
  const webhook = await db.webhook.findFirst({ where: { workspaceId, id: webhookId }, select: { id: true } });
  if (webhook === null) throw notFound('Webhook');
  const rows = await db.webhookDelivery.findMany({
    where: { workspaceId, webhookId },
    select: deliveryColumns,
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
    skip: offset,
  });
  return rows.map(toDelivery);
};
