import { z } from 'zod';
import { id, integerBetween, requiredLine, unixSeconds } from '../../core/validation.ts';
import type { EventType } from '../../events/catalogue.ts';
import { isWebUrl, namesNoUser } from './url.ts';

const MOST_NAME = 100;
const MOST_URL = 2048;
/** More entries than there are events can only be repetitions, which are dropped. */
const MOST_EVENTS = 100;

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
export const webhookEvents = [
  ...listedEvents,
  'library_item.uploaded',
  'library_item.deleted',
] as const satisfies readonly EventType[];

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
    failure_count: z.int().describe('Failed attempts since the last success'),
    disabled_reason: z.string().nullable().describe('Why the service deactivated the webhook; null where it did not'),
  })
  .meta({ id: 'Webhook', description: 'A receiver of events; its secret is shown at its creation only' });
export type Webhook = z.infer<typeof Webhook>;

/** A webhook as its creation answers it. */
export const CreatedWebhook = Webhook.extend({
  secret: z
    .string()
    .describe('Signs what is sent: keep it, it cannot be read again')
    .meta({ example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }),
}).meta({ id: 'CreatedWebhook' });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const WebhookDelivery = z
  .object({
    id: z.int().min(1),
    webhook_id: id,
    delivery_id: z.string().describe('Names the message, in the header `webhook-id`; the same on every attempt'),
    attempt: z.int().describe('1, 2, ...'),
    event: z.string(),
    payload: z.string().describe('The body that was sent, JSON as text'),
    response_status: z.int().describe('HTTP status of the receiver; 0 where there was no answer'),
    response_body: z.string().describe('What the receiver answered, cut at 10 kB; without an answer, the reason'),
    success: flag.describe('1: the receiver answered 2xx'),
    created_at: unixSeconds,
  })
  .meta({ id: 'WebhookDelivery', description: 'One attempt to deliver one event' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const webhookName = requiredLine(MOST_NAME, 'Name is required')
  .describe('At most 100 characters')
  .meta({ example: 'Chat announcements' });

const webhookUrl = requiredLine(MOST_URL, 'url is required')
  .refine(namesNoUser, { error: 'url must not contain a user or a password' })
  .refine(isWebUrl, { error: 'url must be a URL that begins with http:// or https:// and names a host' })
  .describe('http or https, at most 2048 characters, without user and password')
  .meta({ example: 'https://example.com/hooks/lynxroom' });

const EVENTS_REQUIRED = 'events is required';

// Any entry passes at first, so that a body full of wrong ones is refused by its length, not entry by entry. The cast
// tells clients what an entry is, which the shape that follows checks.
const anyEvent = z.unknown() as z.ZodType<EventType, EventType>;

const subscribedEvents = z
  .array(anyEvent, {
    error: ({ input }) => (input === undefined || input === null ? EVENTS_REQUIRED : undefined),
  })
  .min(1, { error: EVENTS_REQUIRED, abort: true })
  .max(MOST_EVENTS, { abort: true })
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
  name: webhookName.optional(),
  url: webhookUrl.optional(),
  events: subscribedEvents.optional(),
});
export type UpdateWebhookInput = z.infer<typeof UpdateWebhookInput>;

export const ListDeliveriesInput = WebhookInput.extend({
  limit: integerBetween(1, 100).default(50).describe('Maximum number of attempts'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('How many attempts to skip'),
});
export type ListDeliveriesInput = z.infer<typeof ListDeliveriesInput>;

export const EventsAnswer = z.object({ events: z.array(z.string()) });
export const WebhooksAnswer = z.object({ webhooks: z.array(Webhook) });
export const WebhookAnswer = z.object({ webhook: Webhook });
export const CreatedWebhookAnswer = z.object({ webhook: CreatedWebhook });
export const DeliveriesAnswer = z.object({ deliveries: z.array(WebhookDelivery) });
