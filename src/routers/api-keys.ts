import { Ok } from '../core/shapes.ts';
import { createApiKey, deleteApiKey, listApiKeys, toggleApiKey } from '../features/api-keys/api-keys.ts';
import {
  ApiKeyAnswer,
  ApiKeyInput,
  ApiKeysAnswer,
  CreateApiKeyInput,
  CreatedApiKeyAnswer,
  ToggleApiKeyInput,
} from '../features/api-keys/schemas.ts';
import { inWorkspace, inWorkspaceBySession, router } from '../trpc/procedures.ts';

const tags = ['API keys'];

export const apiKeysRouter = router({
  list: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/api-keys',
        tags,
        summary: 'List API keys',
        description: 'Owner or admin. All keys of the workspace, oldest first; never the keys themselves.',
      },
    })
    .output(ApiKeysAnswer)
    .query(async ({ ctx }) => ({ apiKeys: await listApiKeys(ctx.services, ctx.actor) })),

  create: inWorkspaceBySession('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/api-keys',
        tags,
        summary: 'Create an API key',
        description:
          'Owner or admin, not by a key. The key acts for its creator, with their role at each call, in this workspace only. `full_key` is shown here and never again.',
      },
    })
    .input(CreateApiKeyInput)
    .output(CreatedApiKeyAnswer)
    .mutation(async ({ ctx, input }) => ({ apiKey: await createApiKey(ctx.services, ctx.actor, input) })),

  toggle: inWorkspaceBySession('admin')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/api-keys/{keyId}',
        tags,
        summary: 'Activate or deactivate an API key',
        description: 'Owner or admin, not by a key. No body, or an empty one, flips; `is_active` sets.',
      },
    })
    .input(ToggleApiKeyInput)
    .output(ApiKeyAnswer)
    .mutation(async ({ ctx, input }) => ({ apiKey: await toggleApiKey(ctx.services, ctx.actor, input) })),

  delete: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/api-keys/{keyId}',
        tags,
        summary: 'Delete an API key',
        description: 'Owner only, not by a key. Its next call is refused with 401.',
      },
    })
    .input(ApiKeyInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteApiKey(ctx.services, ctx.actor, input)),
});
