import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { createApiKey, deleteApiKey, listApiKeys, toggleApiKey } from '../features/api-keys/api-keys.ts';
import { rotateApiKey } from '../features/api-keys/rotate-api-key.ts';
import {
  ApiKeyAnswer,
  ApiKeyInput,
  ApiKeysAnswer,
  CreateApiKeyInput,
  CreatedApiKeyAnswer,
  RotateApiKeyInput,
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
        successDescription: 'The API keys of the workspace',
        description: 'Owner or admin. All keys of the workspace, oldest first, without `full_key`.',
      },
    })
    .input(ListPageInput)
    .output(ApiKeysAnswer)
    .query(async ({ ctx, input }) => pageAs('apiKeys', await listApiKeys(ctx.services, ctx.actor, input))),

  create: inWorkspaceBySession('admin')
    .meta({
      needsRecentSignIn: true,
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/api-keys',
        tags,
        summary: 'Create an API key',
        successDescription: 'The new API key, with the key itself',
        description:
          'Owner or admin, with a recent sign-in. The key works in this workspace only. It acts for its creator, ' +
          'with the role that they have at the time of the call, or belongs to the workspace (`belongs_to`). ' +
          '`scopes`, `expires_at` and `allowed_networks` restrict it. `full_key` is only returned here and cannot be ' +
          'retrieved again.',
      },
    })
    .input(CreateApiKeyInput)
    .output(CreatedApiKeyAnswer)
    .mutation(async ({ ctx, input }) => {
      return { apiKey: await createApiKey(ctx.services, ctx.actor, input, ctx.sessionId) };
    }),

  toggle: inWorkspaceBySession('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/api-keys/{keyId}',
        tags,
        summary: 'Activate or deactivate an API key',
        successDescription: 'The API key with its new state',
        description:
          'Owner or admin. `is_active` sets the state. `toggle: true`, an empty body or ' +
          'no body inverts it. 400 for a body that has only other fields. 409 if a revoked key would become active.',
      },
    })
    .input(ToggleApiKeyInput)
    .output(ApiKeyAnswer)
    .mutation(async ({ ctx, input }) => ({ apiKey: await toggleApiKey(ctx.services, ctx.actor, input) })),

  rotate: inWorkspaceBySession('admin')
    .meta({
      needsRecentSignIn: true,
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/api-keys/{keyId}/rotate',
        tags,
        summary: 'Rotate an API key',
        successDescription: 'The API key, with the new key itself',
        description:
          'Owner or admin, with a recent sign-in. Replaces the secret of a key of the workspace, or of a key that ' +
          'acts for the caller (403 for a key of somebody else). The previous key works for `overlap_hours`; the one ' +
          'before it ends at once. `full_key` is only returned here. 409 if the key was revoked.',
      },
    })
    .input(RotateApiKeyInput)
    .output(CreatedApiKeyAnswer)
    .mutation(async ({ ctx, input }) => {
      return { apiKey: await rotateApiKey(ctx.services, ctx.actor, input, ctx.sessionId) };
    }),

  delete: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/api-keys/{keyId}',
        tags,
        summary: 'Delete an API key',
        successDescription: 'The API key is deleted',
        description: 'Owner only. Calls with the key are then rejected with 401.',
      },
    })
    .input(ApiKeyInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteApiKey(ctx.services, ctx.actor, input)),
});
