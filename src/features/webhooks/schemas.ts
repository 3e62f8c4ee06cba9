import { z } from 'zod';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { requestedId, requestedIdUpTo } from '../../core/requested-id.ts';
import {
  count,
  flag,
  id,
  integerBetween,
  integerFrom,
  LAST_SECOND,
  MAX_INT32,
  MAX_NAME_LENGTH,
  optional,
  requiredExactText,
  requiredText,
  unixSeconds,
} from '../../core/validation.ts';
import { type EventType, eventTypes, sentTypes } from '../../events/catalogue.ts';
import { hasNoUser, isWebUrl } from './url.ts';

const MAX_URL_LENGTH = 2048;
/** Far more than the number of events, so a valid list can be longer than this only if it has duplicates. */
const MAX_EVENTS = 100;

/**
 * The events that `GET .../webhooks/events` lists, in this order. The API contract (docs/versioning.md) fixes this
 * list. It does not include the library events.
 */
export const listedEvents = [
  'room.created',
  'room.joined',
  'room.left',
  'recording.started',
  'recording.completed',
  'member.joined',
  'member.left',
] as const satisfies readonly EventType[];

/** The events that a webhook can subscribe to. */
export const webhookEvents = eventTypes;

/** The events that a message can have. */
export const SentEvent = z.enum(sentTypes);

export const Webhook = z
  .object({
    id,
    workspace_id: id,
    name: z.string(),
    url: z
      .string()
      .describe('The URL that events are posted to')
      .meta({ example: 'https://example.com/hooks/lynxroom' }),
    events: z
      .string()
      .describe('The subscribed events, as a JSON-encoded array')
      .meta({ example: '["room.created","member.joined"]' }),
    is_active: flag.describe('1: active; 0: inactive, nothing is sent'),
    created_by: id.nullable().describe('User ID of the creator; null if that user was deleted'),
    created_at: unixSeconds,
    updated_at: unixSeconds,
    last_delivery_at: unixSeconds.nullable().describe('Time of the last attempt; null before the first'),
    failure_count: count.describe('Failed attempts since the last success'),
    disabled_reason: z.string().nullable().describe('Why the service deactivated the webhook; null if it did not'),
    previous_secret_expires_at: unixSeconds
      .nullable()
      .describe('When the previous secret stops signing after a rotation; null if there is no previous secret'),
  })
  .meta({ id: 'Webhook', description: 'A URL that receives events' });
export type Webhook = z.infer<typeof Webhook>;

/** The webhook in the responses to creating it and rotating its secret. */
export const WebhookWithSecret = Webhook.extend({
  secret: z
    .string()
    .describe('The signing secret. Store it: it is returned only here')
    .meta({ example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }),
}).meta({ id: 'WebhookWithSecret' });
export type WebhookWithSecret = z.infer<typeof WebhookWithSecret>;

const rowId = integerFrom(1);

const sequence = rowId
  .nullable()
  .describe("Position of the event in the workspace's log, as in `X-Webhook-Sequence`; null for a test message");

export const WebhookDelivery = z
  .object({
    id: rowId,
    webhook_id: id,
    delivery_id: z.string().describe('ID of the message, as in the `webhook-id` header; the same for every attempt'),
    attempt: integerFrom(1, MAX_INT32).describe('Number of the attempt: 1, 2, ...'),
    event: SentEvent,
    sequence,
    payload: z.string().describe('The body that was sent, serialized as JSON'),
    response_status: integerFrom(0, 999).describe('HTTP status of the response; 0 if there was no response'),
    response_body: z
      .string()
      .describe('Body of the response, truncated to 10 kB; if there was no response, the reason'),
    success: flag.describe('1 if the response status was 2xx, otherwise 0'),
    duration_ms: integerFrom(0, MAX_INT32).describe('Duration of the attempt in milliseconds'),
    created_at: unixSeconds,
  })
  .meta({ id: 'WebhookDelivery', description: 'One attempt to deliver a message' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const MessageStatus = z.enum(['waiting', 'delivered', 'failed', 'cancelled']);
export type MessageStatus = z.infer<typeof MessageStatus>;

export const WebhookMessage = z
  .object({
    id: z
      .string()
      .describe('The value of the `webhook-id` header, and the `delivery_id` of the deliveries of this message')
      .meta({ example: 'msg_019b76da9400704c93bd2d1f3c2a7a51' }),
    webhook_id: id,
    event: SentEvent,
    sequence,
    status: MessageStatus.describe(
      'waiting: another attempt follows; delivered: an attempt succeeded; failed: the last attempt of the ' +
        'schedule failed; cancelled: the webhook was deactivated, or unsubscribed from the event, before delivery',
    ),
    payload: z.string().describe('The body, serialized as JSON'),
    attempt_count: count.describe('Attempts so far, in all rounds'),
    created_at: unixSeconds,
    next_attempt_at: unixSeconds.nullable().describe('When the next attempt is due; null unless waiting'),
  })
  .meta({ id: 'WebhookMessage', description: 'An event that is sent to a webhook' });
export type WebhookMessage = z.infer<typeof WebhookMessage>;

export const WebhookMessageWithAttempts = WebhookMessage.extend({
  attempts: z.array(WebhookDelivery).describe('The latest 100 attempts, oldest first'),
}).meta({ id: 'WebhookMessageWithAttempts' });
export type WebhookMessageWithAttempts = z.infer<typeof WebhookMessageWithAttempts>;

const webhookName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('At most 100 characters')
  .meta({ example: 'Chat announcements' });

const webhookUrl = requiredExactText(MAX_URL_LENGTH, 'url is required')
  .refine(hasNoUser, { error: 'url must not contain a user name or password' })
  .refine(isWebUrl, { error: 'url must be a URL that begins with http:// or https:// and names a host' })
  .describe(
    'An http or https URL with at most 2048 characters, without a user name or password. It must point to a public ' +
      'address, on port 80, 443 or 1024 to 65535',
  )
  .meta({ example: 'https://example.com/hooks/lynxroom' });

// Accepts any entry at first, so that a list that is too long is rejected with a single error for its length rather
// than one error per entry. The cast gives clients the type of an entry. The next schema checks the entries.
const anyEvent = z.unknown() as z.ZodType<EventType, EventType>;

const subscribedEvents = z
  .array(anyEvent, {
    error: ({ input }) => (input === undefined || input === null ? 'events is required' : undefined),
  })
  .min(1, { error: 'events must name at least one event', abort: true })
  .max(MAX_EVENTS, { abort: true })
  .pipe(z.array(z.enum(webhookEvents)))
  .transform((events) => [...new Set(events)])
  .describe('One or more events; duplicates are dropped')
  .meta({ items: { type: 'string', enum: webhookEvents }, example: ['room.created', 'member.joined'] });

export const CreateWebhookInput = z
  .object({ name: webhookName, url: webhookUrl, events: subscribedEvents })
  .meta({ id: 'CreateWebhookRequest' });
export type CreateWebhookInput = z.infer<typeof CreateWebhookInput>;

export const WebhookInput = z.object({ webhookId: requestedId.describe('Webhook ID') });
export type WebhookInput = z.infer<typeof WebhookInput>;

export const UpdateWebhookInput = WebhookInput.extend({
  toggle: optional(z.boolean().describe('true: inverts `is_active`; false: no effect')),
  is_active: optional(z.literal([0, 1, false, true]).describe('The new state. Cannot be combined with `toggle`')),
  name: optional(webhookName),
  url: optional(webhookUrl),
  events: optional(subscribedEvents),
})
  .refine(({ toggle, is_active }) => toggle === undefined || is_active === undefined, {
    path: ['is_active'],
    error: 'Send either toggle or is_active',
  })
  .meta({ id: 'UpdateWebhookRequest' });
export type UpdateWebhookInput = z.infer<typeof UpdateWebhookInput>;

const eventFilter = SentEvent.describe('Only messages for this event').optional();

export const ListDeliveriesInput = WebhookInput.extend({
  event: eventFilter,
  outcome: z
    .enum(['succeeded', 'failed'])
    .describe('Only attempts that got a 2xx response, or only attempts that did not')
    .optional(),
  ...pageOf('attempts'),
});
export type ListDeliveriesInput = z.infer<typeof ListDeliveriesInput>;

export const ListMessagesInput = WebhookInput.extend({
  status: MessageStatus.describe('Only messages with this status').optional(),
  event: eventFilter,
  ...pageOf('messages'),
});
export type ListMessagesInput = z.infer<typeof ListMessagesInput>;

// Delivery ids are 64-bit integers. JSON numbers are exact up to this value.
const MAX_DELIVERY_ID = Number.MAX_SAFE_INTEGER;

export const ResendInput = WebhookInput.extend({
  deliveryId: requestedIdUpTo(MAX_DELIVERY_ID, 'must be the id of a delivery, an integer').describe(
    'Delivery ID: the `id` of a delivery, not its `delivery_id`',
  ),
});
export type ResendInput = z.infer<typeof ResendInput>;

export const ResendFailedInput = WebhookInput.extend({
  since: integerThat(0, LAST_SECOND, ({ input }) =>
    input === undefined || input === null ? 'since is required' : 'since must be a Unix timestamp in seconds',
  )
    .describe('Only events and messages from this time or later; Unix timestamp in seconds')
    .meta({ example: 1767225600 }),
  until: optional(
    integerThat(0, LAST_SECOND, () => 'until must be a Unix timestamp in seconds')
      .describe('Only events and messages before this time; Unix timestamp in seconds. Default: no limit')
      .meta({ example: 1767312000 }),
  ),
  include_earlier: optional(
    z.boolean().describe('true: also events from before the webhook was registered. Default: false'),
  ),
})
  .refine(({ since, until }) => until === undefined || until > since, {
    path: ['until'],
    error: 'until must be after since',
  })
  .meta({ id: 'ResendFailedRequest' });
export type ResendFailedInput = z.infer<typeof ResendFailedInput>;

export const MessageInput = WebhookInput.extend({
  messageId: z.string().describe('Message ID: the header `webhook-id`, or `delivery_id` of a delivery'),
});
export type MessageInput = z.infer<typeof MessageInput>;

const EventDescription = z
  .object({
    name: SentEvent,
    description: z.string(),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema (draft 2020-12) of the whole body'),
    example: z.record(z.string(), z.unknown()).describe('An example of the body'),
  })
  .meta({ id: 'WebhookEventDescription' });

export const EventsResponse = z.object({ events: z.array(z.enum(listedEvents)) }).meta({ id: 'WebhookEventList' });
export const CatalogueResponse = z.object({ events: z.array(EventDescription) }).meta({ id: 'WebhookEventCatalogue' });
export const WebhooksResponse = z
  .object({ webhooks: z.array(Webhook), next_cursor: nextCursor })
  .meta({ id: 'WebhookList' });
export const WebhookResponse = z.object({ webhook: Webhook }).meta({ id: 'WebhookResponse' });
export const WebhookWithSecretResponse = z
  .object({ webhook: WebhookWithSecret })
  .meta({ id: 'WebhookWithSecretResponse' });
export const DeliveriesResponse = z
  .object({ deliveries: z.array(WebhookDelivery), next_cursor: nextCursor })
  .meta({ id: 'WebhookDeliveryList' });
export const MessagesResponse = z
  .object({ messages: z.array(WebhookMessage), next_cursor: nextCursor })
  .meta({ id: 'WebhookMessageList' });
export const MessageResponse = z.object({ message: WebhookMessage }).meta({ id: 'WebhookMessageResponse' });
export const MessageWithAttemptsResponse = z
  .object({ message: WebhookMessageWithAttempts })
  .meta({ id: 'WebhookMessageWithAttemptsResponse' });
export const ResendFailedResponse = z
  .object({
    count: count.describe('How many messages the call sends, at most 10,000'),
    has_more: flag.describe('1 if the range has more: call again with the same range'),
  })
  .meta({ id: 'ResendFailedResponse' });
export type ResendFailedResponse = z.infer<typeof ResendFailedResponse>;

function pageOf(things: string) {
  return {
    limit: integerBetween(1, 100).default(50).describe(`Maximum number of ${things}`),
    offset: integerBetween(0, 2_147_483_647).default(0).describe(`How many ${things} to skip`),
    cursor,
  };
}

/** An integer in a range, with a custom error message. */
function integerThat(min: number, max: number, error: (issue: z.core.$ZodRawIssue) => string) {
  return z
    .number({ error })
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, { error })
    .meta({ type: 'integer', minimum: min, maximum: max });
}
