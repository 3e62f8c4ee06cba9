/** What leaves of webhooks and messages. */
import { toUnixSeconds } from '../../core/time.ts';
import { type Webhook, WebhookMessage } from './schemas.ts';

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
  previousSecretUntil: Date | null;
};

/** The public shape, as it is at `now`. */
export const toWebhook = (row: WebhookRow, now: Date): Webhook => ({
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
});

export const messageColumns = {
  id: true,
  webhookId: true,
  event: true,
  payload: true,
  status: true,
  attempts: true,
  nextAttemptAt: true,
  createdAt: true,
} as const;

type MessageRow = {
  id: string;
  webhookId: number;
  event: string;
  payload: string;
  status: string;
  attempts: number;
  nextAttemptAt: Date | null;
  createdAt: Date;
};

/** The public shape. Its status is text with a check in the database; here it becomes one of the four again. */
export const toMessage = (row: MessageRow): WebhookMessage => ({
  id: row.id,
  webhook_id: row.webhookId,
  event: row.event,
  status: WebhookMessage.shape.status.parse(row.status),
  payload: row.payload,
  attempt_count: row.attempts,
  created_at: toUnixSeconds(row.createdAt),
  next_attempt_at: row.nextAttemptAt && toUnixSeconds(row.nextAttemptAt),
});
