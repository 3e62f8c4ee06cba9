import { ListPageInput, pageAs } from '../core/list-page.ts';
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
import { requireRecentSignIn } from '../trpc/access.ts';
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
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/api-keys',
        tags,
        summary: 'Create an API key',
        successDescription: 'The new API key, with the key itself',
        description:
          'Owner or admin, with a recent sign-in; API keys are not accepted. The key acts for its creator in this ' +
          'workspace only, with the role that the creator has at the time of the call. `full_key` is only returned ' +
          'here and cannot be retrieved again.',
      },
    })
    .input(CreateApiKeyInput)
    .output(CreatedApiKeyAnswer)
    .mutation(async ({ ctx, input }) => {
      requireRecentSignIn(ctx);
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
          'Owner or admin; API keys are not accepted. `is_active` sets the state. `toggle: true`, an empty body or ' +
          'no body inverts it. 400 for a body that has only other fields. 409 if a revoked key would become active.',
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
        successDescription: 'The API key is deleted',
        description: 'Owner only; API keys are not accepted. Calls with the key are then rejected with 401.',
      },
    })
    .input(ApiKeyInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteApiKey(ctx.services, ctx.actor, input)),
});
