/** One message to one webhook, with what became of it. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { isMessageId } from '../../delivery/message-id.ts';
import type { Services } from '../../services.ts';
import { toDelivery } from './deliveries.ts';
import { messageColumns, toMessage } from './present.ts';
import type { MessageInput, WebhookMessageWithAttempts } from './schemas.ts';

/** Whoever sends a message again and again has many; each may carry 10 kB of an answer. */
const MOST_ATTEMPTS = 100;

const attemptColumns = {
  id: true,
  webhookId: true,
  messageId: true,
  attempt: true,
  responseStatus: true,
  responseBody: true,
  success: true,
  durationMs: true,
  createdAt: true,
} as const;

/** A message with its attempts, the latest 100, oldest first. Throws 404 for the webhook, and then for the message. */
export const readMessage = async (
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { webhookId, messageId }: MessageInput,
): Promise<WebhookMessageWithAttempts> => {
  const deliveries = { select: attemptColumns, orderBy: { attempt: 'desc' }, take: MOST_ATTEMPTS } as const;
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
  const webhook = await db.webhook.findFirst({ where: { workspaceId, id: webhookId }, select: { id: true } });
  throw notFound(webhook === null ? 'Webhook' : 'Message');
};
