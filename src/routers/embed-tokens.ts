import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import {
  createEmbedToken,
  listEmbedTokens,
  readCurrentScope,
  revokeEmbedToken,
} from '../features/embed-tokens/embed-tokens.ts';
import {
  CreatedEmbedToken,
  CreateEmbedTokenInput,
  CurrentEmbedTokenAnswer,
  EmbedTokenInput,
  EmbedTokensAnswer,
} from '../features/embed-tokens/schemas.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Embed tokens'];

export const embedTokensRouter = router({
  list: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/embed-tokens',
        tags,
        summary: 'List embed tokens',
        successDescription: 'The embed tokens of the workspace',
        description: 'Owner or admin. Returns the tokens that have not expired, oldest first, without `token`.',
      },
    })
    .input(ListPageInput)
    .output(EmbedTokensAnswer)
    .query(async ({ ctx, input }) => pageAs('embed_tokens', await listEmbedTokens(ctx.services, ctx.actor, input))),

  current: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/embed-tokens/current',
        tags,
        summary: 'Read what an embed token allows',
        successDescription: 'What the embed token of the request allows',
        description:
          'Any member, and any embed token of the workspace: a page in a frame reads what its token allows. `scope` ' +
          'is null if the request has no embed token.',
      },
    })
    .output(CurrentEmbedTokenAnswer)
    .query(({ ctx }) => readCurrentScope(ctx.actor)),

  create: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/embed-tokens',
        tags,
        summary: 'Create an embed token',
        successDescription: 'The new embed token, including `token`',
        description:
          'Owner or admin. A page of your product sends the token as `Authorization: Bearer`, like an API key. It ' +
          'does what its `kind` says, and nothing else: other operations return 403 (`EMBED_SCOPE`). It works for at ' +
          'most a day, while its maker is owner or admin and the key or app with which it was made works. An API key ' +
          'also needs the scope `library:read`, `library:write` (to upload) or `webhooks:admin`. ' +
          '409 if 1000 tokens work.',
      },
    })
    .input(CreateEmbedTokenInput)
    .output(CreatedEmbedToken)
    .mutation(({ ctx, input }) => createEmbedToken(ctx.services, ctx.actor, input)),

  revoke: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/embed-tokens/{tokenId}',
        tags,
        summary: 'Revoke an embed token',
        successDescription: 'The embed token is revoked',
        description: 'Owner or admin. Calls with the token return 401.',
      },
    })
    .input(EmbedTokenInput)
    .output(Ok)
    .mutation(({ ctx, input }) => revokeEmbedToken(ctx.services, ctx.actor, input)),
});
