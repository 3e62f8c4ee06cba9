import { z } from 'zod';
import { id, integerBetween, MAX_NAME_LENGTH, requiredText, unixSeconds } from '../../core/validation.ts';
import { type EventType, eventTypes, sentEvents } from '../../events/catalogue.ts';
import { isWebUrl, namesNoUser } from './url.ts';

const MAX_URL = 2048;
/** More entries than there are events can only be repetitions, which are dropped. */
const MAX_EVENTS = 100;

/** The events that the catalogue operation lists, in its order. */
export const listedEvents = [
  'room.created',
  'room.joined',
  'room.left',
  'recording.started',
  'recording.completed',
  'member.joined',
  'member.left',
] as const satisfies readonly EventType[];

/** What a webhook may subscribe to. */
export const webhookEvents = eventTypes;

/** What a message may be of. */
export const SentEvent = z.enum(sentEvents);

const flag = z.int().min(0).max(1);

export const Webhook = z
  .object({
    id,
    workspace_id: id,
    name: z.string(),
    url: z.string().describe('Where events are posted to').meta({ example: 'https://example.com/hooks/lynxroom' }),
    events: z
      .string()
      .describe('The subscribed events, a JSON array as text')
      .meta({ example: '["room.created","member.joined"]' }),
    is_active: flag.describe('1: events are sent; 0: nothing is'),
    created_by: id.nullable().describe('User ID of the creator; null if that user was deleted'),
    created_at: unixSeconds,
    updated_at: unixSeconds,
    last_delivery_at: unixSeconds.nullable().describe('Time of the last attempt; null before the first'),
    failure_count: z.int().min(0).describe('Failed attempts since the last success'),
    disabled_reason: z.string().nullable().describe('Why the service deactivated the webhook; null where it did not'),
    previous_secret_expires_at: unixSeconds
      .nullable()
      .describe('Until when the secret before the last rotation signs too; null where none does'),
  })
  .meta({ id: 'Webhook', description: 'A receiver of events; a secret is shown when it is made, and never again' });
export type Webhook = z.infer<typeof Webhook>;

/** A webhook as its creation and the rotation of its secret answer it. */
export const WebhookWithSecret = Webhook.extend({
  secret: z
    .string()
    .describe('Signs what is sent: keep it, it cannot be read again')
    .meta({ example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }),
}).meta({ id: 'WebhookWithSecret' });
export type WebhookWithSecret = z.infer<typeof WebhookWithSecret>;

const rowId = z.int().min(1);

export const WebhookDelivery = z
  .object({
    id: rowId,
    webhook_id: id,
    delivery_id: z.string().describe('Names the message, in the header `webhook-id`; the same on every attempt'),
    attempt: z.int().min(1).describe('1, 2, ...'),
    event: SentEvent,
    payload: z.string().describe('The body that was sent, JSON as text'),
    response_status: z.int().min(0).describe('HTTP status of the receiver; 0 where there was no answer'),
    response_body: z.string().describe('What the receiver answered, cut at 10 kB; without an answer, the reason'),
    success: flag.describe('1: the receiver answered 2xx'),
    duration_ms: z.int().min(0).describe('How long the attempt took, in milliseconds'),
    created_at: unixSeconds,
  })
  .meta({ id: 'WebhookDelivery', description: 'One attempt to deliver one message' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const MessageStatus = z.enum(['waiting', 'delivered', 'failed', 'cancelled']);
export type MessageStatus = z.infer<typeof MessageStatus>;

export const WebhookMessage = z
  .object({
    id: z
      .string()
      .describe('The header `webhook-id`, and `delivery_id` of its deliveries')
      .meta({ example: 'msg_019b76da9400704c93bd2d1f3c2a7a51' }),
    webhook_id: id,
    event: SentEvent,
    status: MessageStatus.describe(
      'waiting: an attempt is to come; failed: the last attempt of the schedule failed; cancelled: the webhook was deactivated before',
    ),
    payload: z.string().describe('The body, JSON as text'),
    attempt_count: z.int().min(0).describe('Attempts so far, of all rounds'),
    created_at: unixSeconds,
    next_attempt_at: unixSeconds.nullable().describe('When the next attempt is due; null unless waiting'),
  })
  .meta({ id: 'WebhookMessage', description: 'One event on its way to one webhook' });
export type WebhookMessage = z.infer<typeof WebhookMessage>;

export const WebhookMessageWithAttempts = WebhookMessage.extend({
  attempts: z.array(WebhookDelivery).describe('The latest 100, oldest first'),
}).meta({ id: 'WebhookMessageWithAttempts' });
export type WebhookMessageWithAttempts = z.infer<typeof WebhookMessageWithAttempts>;

const webhookName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('At most 100 characters')
  .meta({ example: 'Chat announcements' });

const webhookUrl = requiredText(MAX_URL, 'url is required')
  .refine(namesNoUser, { error: 'url must not contain a user or a password' })
  .refine(isWebUrl, { error: 'url must be a URL that begins with http:// or https:// and names a host' })
  .describe(
    'http or https, at most 2048 characters, without user and password, on the public internet, on port 80, 443 or one from 1024',
  )
  .meta({ example: 'https://example.com/hooks/lynxroom' });

// Any entry passes at first, so that a body full of wrong ones is refused by its length, not entry by entry. The cast
// tells clients what an entry is, which the shape that follows checks.
const anyEvent = z.unknown() as z.ZodType<EventType, EventType>;

const subscribedEvents = z
  .array(anyEvent, {
    error: ({ input }) => (input === undefined || input === null ? 'events is required' : undefined),
  })
  .min(1, { error: 'events must name at least one event', abort: true })
  .max(MAX_EVENTS, { abort: true })
  .pipe(z.array(z.enum(webhookEvents)))
  .transform((events) => [...new Set(events)])
  .describe('One or more; repetitions are dropped')
  .meta({ items: { type: 'string', enum: webhookEvents }, example: ['room.created', 'member.joined'] });

export const CreateWebhookInput = z.object({ name: webhookName, url: webhookUrl, events: subscribedEvents });
export type CreateWebhookInput = z.infer<typeof CreateWebhookInput>;

export const WebhookInput = z.object({ webhookId: id.describe('Webhook ID') });
export type WebhookInput = z.infer<typeof WebhookInput>;

export const UpdateWebhookInput = WebhookInput.extend({
  toggle: z.boolean().describe('true: an active webhook becomes inactive, an inactive one active').optional(),
  is_active: z.literal([0, 1, false, true]).describe('What the webhook becomes; not together with `toggle`').optional(),
  name: webhookName.optional(),
  url: webhookUrl.optional(),
  events: subscribedEvents.optional(),
}).refine(({ toggle, is_active }) => toggle === undefined || is_active === undefined, {
  path: ['is_active'],
  error: 'Send either toggle or is_active',
});
export type UpdateWebhookInput = z.infer<typeof UpdateWebhookInput>;

export const ListDeliveriesInput = WebhookInput.extend(pageOf('attempts'));
export type ListDeliveriesInput = z.infer<typeof ListDeliveriesInput>;

export const ListMessagesInput = WebhookInput.extend({
  status: MessageStatus.describe('Only messages that are so').optional(),
  ...pageOf('messages'),
});
export type ListMessagesInput = z.infer<typeof ListMessagesInput>;

// Rows of deliveries have 64-bit ids, of which JSON numbers carry these exactly.
const MAX_DELIVERY_ID = Number.MAX_SAFE_INTEGER;

export const ResendInput = WebhookInput.extend({
  deliveryId: integerThat(
    1,
    MAX_DELIVERY_ID,
    () => `deliveryId must be the id of a delivery, an integer between 1 and ${MAX_DELIVERY_ID}`,
  ).describe('Delivery ID: `id` of the list of deliveries, not `delivery_id`'),
});
export type ResendInput = z.infer<typeof ResendInput>;

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799;

export const ResendFailedInput = WebhookInput.extend({
  since: integerThat(0, LAST_SECOND, ({ input }) =>
    input === undefined || input === null ? 'since is required' : 'since must be a Unix timestamp in seconds',
  )
    .describe('Messages that were made at this time or later; Unix timestamp in seconds')
    .meta({ example: 1767225600 }),
});
export type ResendFailedInput = z.infer<typeof ResendFailedInput>;

export const MessageInput = WebhookInput.extend({
  messageId: z.string().describe('Message ID: the header `webhook-id`, and `delivery_id` of deliveries'),
});
export type MessageInput = z.infer<typeof MessageInput>;

const EventDescription = z
  .object({
    name: SentEvent,
    description: z.string(),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema (draft 2020-12) of the whole body'),
    example: z.record(z.string(), z.unknown()).describe('A body'),
  })
  .meta({ id: 'WebhookEventDescription' });

export const EventsAnswer = z.object({ events: z.array(z.enum(listedEvents)) });
export const CatalogueAnswer = z.object({ events: z.array(EventDescription) });
export const WebhooksAnswer = z.object({ webhooks: z.array(Webhook) });
export const WebhookAnswer = z.object({ webhook: Webhook });
export const WebhookWithSecretAnswer = z.object({ webhook: WebhookWithSecret });
export const DeliveriesAnswer = z.object({ deliveries: z.array(WebhookDelivery) });
export const MessagesAnswer = z.object({ messages: z.array(WebhookMessage) });
export const MessageAnswer = z.object({ message: WebhookMessage });
export const MessageWithAttemptsAnswer = z.object({ message: WebhookMessageWithAttempts });
export const ResendFailedAnswer = z.object({ count: z.int().min(0).describe('How many messages are sent again') });

function pageOf(things: string) {
  return {
    limit: integerBetween(1, 100).default(50).describe(`Maximum number of ${things}`),
    offset: integerBetween(0, 2_147_483_647).default(0).describe(`How many ${things} to skip`),
  };
}

/** An integer in a range, for which the range alone would say too little. */
function integerThat(min: number, max: number, error: (issue: z.core.$ZodRawIssue) => string) {
  return z
    .number({ error })
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, { error })
    .meta({ type: 'integer', minimum: min, maximum: max });
}
