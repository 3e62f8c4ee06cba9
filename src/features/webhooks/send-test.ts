/** Sends test messages, which show whether a receiver works. */
import type { z } from 'zod';
import type { Actor } from '../../auth/identify.ts';
import { currentTraceparent } from '../../core/tracing.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { SentType, sentEvents } from '../../events/catalogue.ts';
import { toBody } from '../../events/envelope.ts';
import type { Services } from '../../services.ts';
import { createMessageId } from '../../webhook-delivery/message-id.ts';
import { wakeRelay } from '../../webhook-delivery/pending-messages.ts';
import { lockWebhook, requireActive } from './lock-webhook.ts';
import { messageColumns, toMessage } from './present.ts';
import type { WebhookInput, WebhookMessage } from './schemas.ts';

const EVENT = 'webhook.test' satisfies SentType;

/**
 * Sends `webhook.test` to this webhook only, regardless of its subscribed events. The message is signed, retried and
 * recorded like any other. Throws 403 and 404, and 409 if the webhook is inactive.
 */
export async function sendTest(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { webhookId }: WebhookInput,
): Promise<WebhookMessage> {
  return transact(db, async (tx) => {
    const webhook = await lockWebhook(tx, actor, webhookId);
    requireActive(webhook);
    const { workspaceId, name } = actor;
    const now = clock.now();
    const data: z.input<(typeof sentEvents)[typeof EVENT]['data']> = {
      workspace_id: workspaceId,
      webhook_id: webhookId,
      webhook_name: webhook.name,
      sent_by: name,
    };
    const row = await tx.webhookMessage.create({
      data: {
        workspaceId,
        id: createMessageId(now),
        webhookId,
        event: EVENT,
        payload: toBody({ event: EVENT, timestamp: now, data }),
        nextAttemptAt: now,
        createdAt: now,
        updatedAt: now,
        traceparent: currentTraceparent(),
      },
      select: messageColumns,
    });
    await wakeRelay(sqlIn(tx));
    return toMessage(row);
  });
}
