/** The messages to one webhook, with what became of them. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { Prisma } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { isMessageId } from '../../webhook-delivery/message-id.ts';
import { deliveryColumns, toDelivery } from './deliveries.ts';
import { requireWebhook } from './lock-webhook.ts';
import { type MessageRow, messageColumns, toMessage } from './present.ts';
import type { ListMessagesInput, MessageInput, WebhookMessage, WebhookMessageWithAttempts } from './schemas.ts';

/** Whoever sends a message again and again has many; each may carry 10 kB of an answer. */
const MAX_ATTEMPTS = 100;

/**
 * Which messages, in which order. Ids begin with the time, so by id is by time too. Those that wait, and those that were
 * not delivered, have indexes of their own, whose conditions the planner must find as they stand: a parameter tells it nothing.
 */
const selections = {
  any: { where: Prisma.sql`true`, order: Prisma.sql`id desc` },
  waiting: { where: Prisma.sql`status = 'waiting'`, order: Prisma.sql`id desc` },
  delivered: { where: Prisma.sql`status = 'delivered'`, order: Prisma.sql`id desc` },
  failed: { where: Prisma.sql`status = 'failed'`, order: Prisma.sql`created_at desc, id desc` },
  cancelled: { where: Prisma.sql`status = 'cancelled'`, order: Prisma.sql`created_at desc, id desc` },
} as const;

/** A message with its attempts, the latest 100, oldest first. Throws 404 for the webhook, and then for the message. */
export async function readMessage(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, messageId }: MessageInput,
): Promise<WebhookMessageWithAttempts> {
  const deliveries = { select: deliveryColumns, orderBy: { attempt: 'desc' }, take: MAX_ATTEMPTS } as const;
  const row = isMessageId(messageId)
    ? await db.webhookMessage.findFirst({
        where: { workspaceId, id: messageId, webhookId },
        select: { ...messageColumns, deliveries },
      })
    : null;
  if (row !== null) {
    const attempts = row.deliveries.map((attempt) => toDelivery(attempt, row)).reverse();
    return { ...toMessage(row), attempts };
  }
  await requireWebhook(db, workspaceId, webhookId);
  throw notFound('Message');
}

/** Messages to one webhook, newest first. Throws 404. */
export async function listMessages(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, status, limit, offset }: ListMessagesInput,
): Promise<WebhookMessage[]> {
  const { where, order } = selections[status ?? 'any'];
  const rows = await db.$queryRaw<MessageRow[]>`
    select id, webhook_id as "webhookId", event, payload, status, attempts, next_attempt_at as "nextAttemptAt",
      created_at as "createdAt"
    from webhook_messages
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and ${where}
    order by ${order} limit ${limit} offset ${offset}`;
  if (rows.length > 0) return rows.map(toMessage);
  await requireWebhook(db, workspaceId, webhookId);
  return [];
}
