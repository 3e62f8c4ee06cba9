/** The messages to one webhook, with their attempts. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { Prisma } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { isMessageId } from '../../webhook-delivery/message-id.ts';
import { deliveryColumns, toDelivery } from './deliveries.ts';
import { requireWebhook } from './lock-webhook.ts';
import { type MessageRow, messageColumns, toMessage } from './present.ts';
import type { ListMessagesInput, MessageInput, WebhookMessage, WebhookMessageWithAttempts } from './schemas.ts';

/** A message that was resent many times has many attempts, each with up to 10 kB of a response. */
const MAX_ATTEMPTS = 100;

/**
 * The condition and the order for each status. Ids begin with the time, so the order by id is an order by time.
 * Waiting, failed and cancelled messages have partial indexes, which the planner uses only if the condition is a
 * literal, not a parameter.
 */
const selections = {
  any: { where: Prisma.sql`true`, order: Prisma.sql`id desc` },
  waiting: { where: Prisma.sql`status = 'waiting'`, order: Prisma.sql`id desc` },
  delivered: { where: Prisma.sql`status = 'delivered'`, order: Prisma.sql`id desc` },
  failed: { where: Prisma.sql`status = 'failed'`, order: Prisma.sql`created_at desc, id desc` },
  cancelled: { where: Prisma.sql`status = 'cancelled'`, order: Prisma.sql`created_at desc, id desc` },
} as const;

/**
 * Returns a message with its latest 100 attempts, oldest first. Throws 404 for the webhook, and then for the message.
 */
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

/** Lists the messages to a webhook, newest first. Throws 404. */
export async function listMessages(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, status, limit, offset }: ListMessagesInput,
): Promise<WebhookMessage[]> {
  const { where, order } = selections[status ?? 'any'];
  const rows = await db.$queryRaw<MessageRow[]>`
    select id, webhook_id as "webhookId", event, sequence, payload, status, attempts,
      next_attempt_at as "nextAttemptAt", created_at as "createdAt"
    from webhook_messages
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and ${where}
    order by ${order} limit ${limit} offset ${offset}`;
  if (rows.length > 0) return rows.map(toMessage);
  await requireWebhook(db, workspaceId, webhookId);
  return [];
}
