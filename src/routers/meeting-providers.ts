import { Ok } from '../core/shapes.ts';
import {
  createConnection,
  deleteConnection,
  listConnections,
  rotateConnection,
} from '../features/meeting-providers/connections/connections.ts';
import {
  ConnectionInput,
  ConnectionsAnswer,
  ConnectionWithSecretAnswer,
  CreateConnectionInput,
  RotateConnectionInput,
} from '../features/meeting-providers/connections/schemas.ts';
import { inWorkspace, router } from '../trpc/trpc.ts';

const tags = ['Meeting providers'];

export const connectionsRouter = router({
  list: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/connections',
        tags,
        summary: 'List the connections to meeting providers',
        description: 'Owner only. All connections of the workspace, oldest first; never their credentials.',
      },
    })
    .output(ConnectionsAnswer)
    .query(async ({ ctx }) => ({ connections: await listConnections(ctx.services, ctx.actor, ctx.origin) })),

  create: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/connections',
        tags,
        summary: 'Connect a meeting provider',
        description:
          'Owner only. Have the provider post its callbacks to `ingest_url`. For vonage and livekit `credentials` is required; for generic a `secret` is made, shown here and never again.',
      },
    })
    .input(CreateConnectionInput)
    .output(ConnectionWithSecretAnswer)
    .mutation(async ({ ctx, input }) => ({
      connection: await createConnection(ctx.services, ctx.actor, input, ctx.origin),
    })),

  rotate: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/connections/{connectionId}/rotate',
        tags,
        summary: 'Replace the credentials of a connection',
        description:
          'Owner only. vonage and livekit: `credentials` is required; generic: a new `secret` is shown here and never again. What was signed with the ones before is accepted for 24 hours more; with ones that still were good before, no longer. `ingest_url` stays.',
      },
    })
    .input(RotateConnectionInput)
    .output(ConnectionWithSecretAnswer)
    .mutation(async ({ ctx, input }) => ({
      connection: await rotateConnection(ctx.services, ctx.actor, input, ctx.origin),
    })),

  delete: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/connections/{connectionId}',
        tags,
        summary: 'Delete a connection',
        description:
          'Owner only. Its `ingest_url` answers 404 from then on. Participants and recordings that came by it stay.',
      },
    })
    .input(ConnectionInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteConnection(ctx.services, ctx.actor, input)),
});
