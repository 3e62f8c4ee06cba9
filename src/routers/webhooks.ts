import { Ok } from '../core/shapes.ts';
import { describedEvents } from '../events/describe-events.ts';
import { listDeliveries } from '../features/webhooks/deliveries.ts';
import { listMessages, readMessage } from '../features/webhooks/messages.ts';
import { resend, resendFailed, resendMessage } from '../features/webhooks/resend.ts';
import {
  CatalogueAnswer,
  CreateWebhookInput,
  DeliveriesAnswer,
  EventsAnswer,
  ListDeliveriesInput,
  ListMessagesInput,
  listedEvents,
  MessageAnswer,
  MessageInput,
  MessagesAnswer,
  MessageWithAttemptsAnswer,
  ResendFailedAnswer,
  ResendFailedInput,
  ResendInput,
  UpdateWebhookInput,
  WebhookAnswer,
  WebhookInput,
  WebhooksAnswer,
  WebhookWithSecretAnswer,
} from '../features/webhooks/schemas.ts';
import { rotateSecret } from '../features/webhooks/secrets.ts';
import { sendTest } from '../features/webhooks/send-test.ts';
import { createWebhook, deleteWebhook, listWebhooks, updateWebhook } from '../features/webhooks/webhooks.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Webhooks'];
/** Of everything that would send: an inactive webhook is sent nothing. */
const refusals = [409] as const;

export const webhooksRouter = router({
  list: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks',
        tags,
        summary: 'List webhooks',
        description: 'Owner or admin. All webhooks of the workspace, oldest first; never their secrets.',
      },
    })
    .output(WebhooksAnswer)
    .query(async ({ ctx }) => ({ webhooks: await listWebhooks(ctx.services, ctx.actor) })),

  events: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/events',
        tags,
        summary: 'List the events of webhooks',
        description: 'Besides these, `library_item.uploaded` and `library_item.deleted` can be subscribed to.',
      },
    })
    .output(EventsAnswer)
    .query(() => ({ events: [...listedEvents] })),

  catalogue: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/catalogue',
        tags,
        summary: 'Describe every event that webhooks are sent',
        description:
          'Any member. What each event means, the JSON Schema of its body and an example; also of `webhook.test`, which is sent on demand only.',
      },
    })
    .output(CatalogueAnswer)
    .query(() => ({ events: [...describedEvents] })),

  create: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks',
        tags,
        summary: 'Register a webhook',
        description:
          'Owner or admin. `secret` is shown here and never again. An address that is not on the internet is refused.',
      },
    })
    .input(CreateWebhookInput)
    .output(WebhookWithSecretAnswer)
    .mutation(async ({ ctx, input }) => ({ webhook: await createWebhook(ctx.services, ctx.actor, input) })),

  update: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/webhooks/{webhookId}',
        tags,
        summary: 'Change, activate or deactivate a webhook',
        description:
          'Owner or admin. Only sent fields change; `toggle: true` flips, `is_active` sets; both at once are refused. Activating sets `failure_count` to 0 and `disabled_reason` to null; deactivating cancels every message that waits. What waits goes to a new `url` from its next attempt.',
      },
    })
    .input(UpdateWebhookInput)
    .output(WebhookAnswer)
    .mutation(async ({ ctx, input }) => ({ webhook: await updateWebhook(ctx.services, ctx.actor, input) })),

  delete: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/webhooks/{webhookId}',
        tags,
        summary: 'Delete a webhook',
        description: 'Owner only. Its messages and deliveries go with it, and what waits is not sent.',
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
        summary: 'Replace the secret of a webhook',
        description:
          'Owner or admin. `secret` is shown here and never again. The one before signs too until `previous_secret_expires_at`, 24 hours later; one that still did so before no longer.',
      },
    })
    .input(WebhookInput)
    .output(WebhookWithSecretAnswer)
    .mutation(async ({ ctx, input }) => ({ webhook: await rotateSecret(ctx.services, ctx.actor, input) })),

  test: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/test',
        tags,
        summary: 'Send a test to a webhook',
        description:
          'Owner or admin. Sends `webhook.test` to this webhook alone, whatever it subscribes to. It is signed, tried again and recorded as any other message.',
      },
      refusals,
    })
    .input(WebhookInput)
    .output(MessageAnswer)
    .mutation(async ({ ctx, input }) => ({ message: await sendTest(ctx.services, ctx.actor, input) })),

  deliveries: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/deliveries',
        tags,
        summary: 'List the deliveries of a webhook',
        description: 'Owner or admin. One entry an attempt, newest first.',
      },
    })
    .input(ListDeliveriesInput)
    .output(DeliveriesAnswer)
    .query(async ({ ctx, input }) => ({ deliveries: await listDeliveries(ctx.services, ctx.actor, input) })),

  resend: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
        tags,
        summary: 'Send the message of a delivery again',
        description:
          'Owner or admin. Begins a new round of attempts for the same message, under the same `webhook-id`, whatever became of it. A message that waits for a retry is sent now.',
      },
      refusals,
    })
    .input(ResendInput)
    .output(MessageAnswer)
    .mutation(async ({ ctx, input }) => ({ message: await resend(ctx.services, ctx.actor, input) })),

  resendFailed: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/resend',
        tags,
        summary: 'Send again what failed',
        description:
          'Owner or admin. Begins a new round of attempts for every message since then that failed or was cancelled, oldest first.',
      },
      refusals,
    })
    .input(ResendFailedInput)
    .output(ResendFailedAnswer)
    .mutation(async ({ ctx, input }) => ({ count: await resendFailed(ctx.services, ctx.actor, input) })),

  messages: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/messages',
        tags,
        summary: 'List the messages of a webhook',
        description: 'Owner or admin. One entry a message, newest first; all of them, or those of one `status`.',
      },
    })
    .input(ListMessagesInput)
    .output(MessagesAnswer)
    .query(async ({ ctx, input }) => ({ messages: await listMessages(ctx.services, ctx.actor, input) })),

  resendMessage: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/messages/{messageId}/resend',
        tags,
        summary: 'Send a message again',
        description:
          'Owner or admin. The same as by one of its deliveries, also for a message that was cancelled before its first attempt.',
      },
      refusals,
    })
    .input(MessageInput)
    .output(MessageAnswer)
    .mutation(async ({ ctx, input }) => ({ message: await resendMessage(ctx.services, ctx.actor, input) })),

  message: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/webhooks/{webhookId}/messages/{messageId}',
        tags,
        summary: 'Read a message and its attempts',
        description: 'Owner or admin. What became of one event on its way to one webhook.',
      },
    })
    .input(MessageInput)
    .output(MessageWithAttemptsAnswer)
    .query(async ({ ctx, input }) => ({ message: await readMessage(ctx.services, ctx.actor, input) })),
});
