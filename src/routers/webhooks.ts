import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { describedEvents } from '../events/describe-events.ts';
import { listDeliveries } from '../features/webhooks/deliveries.ts';
import { listMessages, readMessage } from '../features/webhooks/messages.ts';
import { resendDelivery, resendFailed, resendMessage } from '../features/webhooks/resend.ts';
import {
  CatalogueResponse,
  CreateWebhookInput,
  DeliveriesResponse,
  EventsResponse,
  ListDeliveriesInput,
  ListMessagesInput,
  listedEvents,
  MessageInput,
  MessageResponse,
  MessagesResponse,
  MessageWithAttemptsResponse,
  ResendFailedInput,
  ResendFailedResponse,
  ResendInput,
  UpdateWebhookInput,
  WebhookInput,
  WebhookResponse,
  WebhooksResponse,
  WebhookWithSecretResponse,
} from '../features/webhooks/schemas.ts';
import { rotateSecret } from '../features/webhooks/secrets.ts';
import { sendTest } from '../features/webhooks/send-test.ts';
import { createWebhook, deleteWebhook, listWebhooks, updateWebhook } from '../features/webhooks/webhooks.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Webhooks'];
/** Operations that send a message return 409 if the webhook is inactive. */
const refusals = [409] as const;

export const webhooksRouter = router({
  list: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks',
        tags,
        summary: 'List webhooks',
        successDescription: 'The webhooks of the workspace',
        description: 'Owner or admin. Returns all webhooks of the workspace, oldest first, without their secrets.',
      },
    })
    .input(ListPageInput)
    .output(WebhooksResponse)
    .query(async ({ ctx, input }) => pageAs('webhooks', await listWebhooks(ctx.services, ctx.actor, input))),

  events: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/events',
        tags,
        summary: 'List the events for webhooks',
        successDescription: 'The names of the events',
        description:
          'Any member. The list is fixed: it contains the seven events of the first version of the API. ' +
          '`GET /api/workspaces/{id}/webhooks/catalogue` describes all events. A webhook can subscribe to any of ' +
          'them except `webhook.test`.',
      },
    })
    .output(EventsResponse)
    .query(() => ({ events: [...listedEvents] })),

  catalogue: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/catalogue',
        tags,
        summary: 'Describe the events for webhooks',
        successDescription: 'The events, with the schema and an example of each body',
        description:
          'Any member. Returns a description, the JSON Schema of the body and an example for each event, ' +
          'including `webhook.test`, which is sent only on request.',
      },
    })
    .output(CatalogueResponse)
    .query(() => ({ events: [...describedEvents] })),

  create: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks',
        tags,
        summary: 'Register a webhook',
        successDescription: 'The new webhook, with its secret',
        description:
          'Owner or admin. `secret` is returned only here. The URL must point to a public address. A service in ' +
          'development that listens only on a loopback address also takes URLs of its machine.',
      },
    })
    .input(CreateWebhookInput)
    .output(WebhookWithSecretResponse)
    .mutation(async ({ ctx, input }) => ({ webhook: await createWebhook(ctx.services, ctx.actor, input) })),

  update: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/webhooks/{webhookId}',
        tags,
        summary: 'Update, activate or deactivate a webhook',
        successDescription: 'The webhook with the changes',
        description:
          'Owner or admin. Only the fields in the body change. `is_active` sets the state, `toggle: true` inverts ' +
          'it; send only one of them. Activating sets `failure_count` to 0 and `disabled_reason` to null. ' +
          'Deactivating cancels all waiting messages, and removing an event from `events` cancels those of that ' +
          'event. If `url` changes, waiting messages are sent to the new URL.',
      },
    })
    .input(UpdateWebhookInput)
    .output(WebhookResponse)
    .mutation(async ({ ctx, input }) => ({ webhook: await updateWebhook(ctx.services, ctx.actor, input) })),

  delete: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/webhooks/{webhookId}',
        tags,
        summary: 'Delete a webhook',
        successDescription: 'The webhook, its messages and its deliveries are deleted',
        description: 'Owner only. Also deletes its messages and deliveries. Waiting messages are not sent.',
      },
    })
    .input(WebhookInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteWebhook(ctx.services, ctx.actor, input)),

  rotateSecret: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/rotate-secret',
        tags,
        summary: 'Rotate the secret of a webhook',
        successDescription: 'The webhook with its new secret',
        description:
          'Owner or admin. The new `secret` is returned only here. For 24 hours, until `previous_secret_expires_at`, ' +
          'messages are also signed with the previous secret. Older secrets stop signing at once.',
      },
    })
    .input(WebhookInput)
    .output(WebhookWithSecretResponse)
    .mutation(async ({ ctx, input }) => ({ webhook: await rotateSecret(ctx.services, ctx.actor, input) })),

  test: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/test',
        tags,
        summary: 'Send a test message to a webhook',
        successDescription: 'The test message, which is being sent',
        description:
          'Owner or admin. Sends `webhook.test` to this webhook only, whatever events it subscribes to. It is ' +
          'signed, retried and recorded like any other message.',
      },
      refusals,
    })
    .input(WebhookInput)
    .output(MessageResponse)
    .mutation(async ({ ctx, input }) => ({ message: await sendTest(ctx.services, ctx.actor, input) })),

  deliveries: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/deliveries',
        tags,
        summary: 'List the deliveries of a webhook',
        successDescription: 'The deliveries of the webhook',
        description: 'Owner or admin. Returns one entry for each attempt, newest first.',
      },
    })
    .input(ListDeliveriesInput)
    .output(DeliveriesResponse)
    .query(async ({ ctx, input }) => pageAs('deliveries', await listDeliveries(ctx.services, ctx.actor, input))),

  resend: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
        tags,
        summary: 'Resend the message of a delivery',
        successDescription: 'The message, which is sent again',
        description:
          'Owner or admin. Starts a new round of attempts for the message, whatever its status, with the same ' +
          '`webhook-id` and body. A waiting message is sent now.',
      },
      refusals,
    })
    .input(ResendInput)
    .output(MessageResponse)
    .mutation(async ({ ctx, input }) => ({ message: await resendDelivery(ctx.services, ctx.actor, input) })),

  resendFailed: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/resend',
        tags,
        summary: 'Resend failed messages, and send missed events',
        successDescription: 'How many messages are sent',
        description:
          'Owner or admin. Sends, oldest first, everything from the time range that the webhook has not got: ' +
          'messages that failed or were cancelled, and events for which it has no message, because it was inactive ' +
          'or not subscribed. Leaves out events from before its registration unless `include_earlier` is true, ' +
          'events that it does not subscribe to now, people who were erased, and what retention has removed. Sends ' +
          'no message that is waiting or delivered, so calling twice sends nothing twice.',
      },
      refusals,
    })
    .input(ResendFailedInput)
    .output(ResendFailedResponse)
    .mutation(({ ctx, input }) => resendFailed(ctx.services, ctx.actor, input)),

  messages: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/messages',
        tags,
        summary: 'List the messages of a webhook',
        successDescription: 'The messages of the webhook',
        description:
          'Owner or admin. Returns the messages with the given `status` or, without `status`, all messages, newest ' +
          'first.',
      },
    })
    .input(ListMessagesInput)
    .output(MessagesResponse)
    .query(async ({ ctx, input }) => pageAs('messages', await listMessages(ctx.services, ctx.actor, input))),

  resendMessage: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/messages/{messageId}/resend',
        tags,
        summary: 'Resend a message',
        successDescription: 'The message, which is sent again',
        description:
          'Owner or admin. Starts a new round of attempts for the message, whatever its status, with the same ' +
          '`webhook-id` and body. Unlike resending a delivery, this also works for a message without attempts.',
      },
      refusals,
    })
    .input(MessageInput)
    .output(MessageResponse)
    .mutation(async ({ ctx, input }) => ({ message: await resendMessage(ctx.services, ctx.actor, input) })),

  message: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/messages/{messageId}',
        tags,
        summary: 'Read a message and its attempts',
        successDescription: 'The message and its attempts',
        description: 'Owner or admin. Returns the status of the message and its latest 100 attempts.',
      },
    })
    .input(MessageInput)
    .output(MessageWithAttemptsResponse)
    .query(async ({ ctx, input }) => ({ message: await readMessage(ctx.services, ctx.actor, input) })),
});
