/** The public shapes of webhooks and messages. */
import { toUnixSeconds } from '../../core/time.ts';
import type { Prisma } from '../../db/client.ts';
import { MessageStatus, SentEvent, type Webhook, type WebhookMessage } from './schemas.ts';

export const webhookColumns = {
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
  previousSecretUntil: true,
} as const satisfies Prisma.WebhookSelect;

type WebhookRow = Prisma.WebhookGetPayload<{ select: typeof webhookColumns }>;

export const messageColumns = {
  id: true,
  webhookId: true,
  event: true,
  sequence: true,
  payload: true,
  status: true,
  attempts: true,
  nextAttemptAt: true,
  createdAt: true,
} as const satisfies Prisma.WebhookMessageSelect;

export type MessageRow = Prisma.WebhookMessageGetPayload<{ select: typeof messageColumns }>;

/** Returns the public shape of a webhook at the time `now`. */
export function toWebhook(row: WebhookRow, now: Date): Webhook {
  return {
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
    previous_secret_expires_at:
      row.previousSecretUntil !== null && row.previousSecretUntil > now ? toUnixSeconds(row.previousSecretUntil) : null,
  };
}

/** Returns the public shape of a message. Throws if the event or status in the database is unknown. */
export function toMessage(row: MessageRow): WebhookMessage {
  return {
    id: row.id,
    webhook_id: row.webhookId,
    event: SentEvent.parse(row.event),
    sequence: row.sequence === null ? null : Number(row.sequence),
    status: MessageStatus.parse(row.status),
    payload: row.payload,
    attempt_count: row.attempts,
    created_at: toUnixSeconds(row.createdAt),
    next_attempt_at: row.nextAttemptAt && toUnixSeconds(row.nextAttemptAt),
  };
}
