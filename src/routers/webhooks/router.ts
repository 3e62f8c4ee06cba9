import { Ok } from '../../core/shapes.ts';
import { inWorkspace, router } from '../../trpc.ts';
import { listDeliveries } from './deliveries.ts';
import {
  CreatedWebhookAnswer,
  CreateWebhookInput,
  DeliveriesAnswer,
  EventsAnswer,
  ListDeliveriesInput,
  listedEvents,
  UpdateWebhookInput,
  WebhookAnswer,
  WebhookInput,
  WebhooksAnswer,
} from './schemas.ts';
import { createWebhook, deleteWebhook, listWebhooks, updateWebhook } from './webhooks.ts';

const tags = ['Webhooks'];

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

  create: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/webhooks',
        tags,
        summary: 'Register a webhook',
        description: 'Owner or admin. `secret` is shown here and never again.',
      },
    })
    .input(CreateWebhookInput)
    .output(CreatedWebhookAnswer)
    .mutation(async ({ ctx, input }) => ({ webhook: await createWebhook(ctx.services, ctx.actor, input) })),

  update: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/webhooks/{webhookId}',
        tags,
        summary: 'Change, activate or deactivate a webhook',
        description:
          'Owner or admin. Only sent fields change; `toggle: true` flips. Activating sets `failure_count` to 0 and `disabled_reason` to null.',
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
        description: 'Owner only. Its deliveries go with it.',
      },
    })
    .input(WebhookInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteWebhook(ctx.services, ctx.actor, input)),

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
});
