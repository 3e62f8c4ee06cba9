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
        description: 'Owner or admin. Returns the keys of the workspace, oldest first, without `full_key`.',
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
        successDescription: 'The new API key, including `full_key`',
        description:
          'Owner or admin, with a recent sign-in. The key works only in this workspace. It acts for its creator, ' +
          'with the current role of the creator, or belongs to the workspace (see `belongs_to`). `scopes`, ' +
          '`expires_at` and `allowed_networks` restrict the key. Only this response contains `full_key`; it cannot ' +
          'be retrieved later.',
      },
    })
    .input(CreateApiKeyInput)
    .output(CreatedApiKeyAnswer)
    .mutation(async ({ ctx, input }) => {
      return { apiKey: await createApiKey(ctx.services, ctx.actor, input) };
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
          'Owner or admin. `is_active` sets the state. `toggle: true`, an empty body or no body inverts the state. ' +
          '400 if the body contains only other fields. 409 if the call would activate a revoked key.',
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
        successDescription: 'The API key, including its new `full_key`',
        description:
          'Owner or admin, with a recent sign-in. Replaces the secret of a key. The previous secret keeps working ' +
          'for `overlap_hours`; any older one stops working immediately. Only this response contains `full_key`. 403 ' +
          'if the key acts for another user. 409 if the key was revoked.',
      },
    })
    .input(RotateApiKeyInput)
    .output(CreatedApiKeyAnswer)
    .mutation(async ({ ctx, input }) => {
      return { apiKey: await rotateApiKey(ctx.services, ctx.actor, input) };
    }),

  delete: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/api-keys/{keyId}',
        tags,
        summary: 'Delete an API key',
        successDescription: 'The API key is deleted',
        description: 'Owner only. Calls with a deleted key return 401.',
      },
    })
    .input(ApiKeyInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteApiKey(ctx.services, ctx.actor, input)),
});
