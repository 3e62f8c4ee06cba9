/** Deliveries: the recorded attempts to send messages to a webhook. */
import type { Actor } from '../../auth/identify.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Prisma } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { requireWebhook } from './lock-webhook.ts';
import { type ListDeliveriesInput, SentEvent, type WebhookDelivery } from './schemas.ts';

export const deliveryColumns = {
  id: true,
  webhookId: true,
  messageId: true,
  attempt: true,
  responseStatus: true,
  responseBody: true,
  success: true,
  durationMs: true,
  createdAt: true,
} as const satisfies Prisma.WebhookDeliverySelect;

type DeliveryRow = Prisma.WebhookDeliveryGetPayload<{ select: typeof deliveryColumns }>;

type MessageColumns = { event: string; sequence: bigint | null; payload: string };

/** Returns the public shape of an attempt, with the event and the body of its message. */
export function toDelivery(row: DeliveryRow, { event, sequence, payload }: MessageColumns): WebhookDelivery {
  return {
    id: Number(row.id),
    webhook_id: row.webhookId,
    delivery_id: row.messageId,
    attempt: row.attempt,
    event: SentEvent.parse(event),
    sequence: sequence === null ? null : Number(sequence),
    payload,
    response_status: row.responseStatus,
    response_body: row.responseBody,
    success: row.success ? 1 : 0,
    duration_ms: row.durationMs,
    created_at: toUnixSeconds(row.createdAt),
  };
}

/** Lists the attempts to send messages to a webhook, newest first. Throws 404. */
export async function listDeliveries(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, limit, offset }: ListDeliveriesInput,
): Promise<WebhookDelivery[]> {
  // A lateral join reads one message for each attempt. With a plain join the planner, which does not know the limit,
  // could read all messages.
  const rows = await db.$queryRaw<(DeliveryRow & MessageColumns)[]>`
    select d.id, d.webhook_id as "webhookId", d.message_id as "messageId", d.attempt,
      d.response_status as "responseStatus", d.response_body as "responseBody", d.success,
      d.duration_ms as "durationMs", d.created_at as "createdAt", m.event, m.sequence, m.payload
    from (
      select * from webhook_deliveries where workspace_id = ${workspaceId} and webhook_id = ${webhookId}
      order by created_at desc, id desc limit ${limit} offset ${offset}
    ) d
    cross join lateral (
      select event, sequence, payload from webhook_messages
      where workspace_id = d.workspace_id and id = d.message_id limit 1
    ) m
    order by d.created_at desc, d.id desc`;
  if (rows.length > 0) return rows.map((row) => toDelivery(row, row));
  await requireWebhook(db, workspaceId, webhookId);
  return [];
}
