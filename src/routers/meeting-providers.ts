import { notFound } from '../core/errors.ts';
import { Ok } from '../core/shapes.ts';
import { GenericEvent } from '../features/meeting-providers/adapters/generic.ts';
import {
  createConnection,
  deleteConnection,
  listConnections,
  rotateConnection,
} from '../features/meeting-providers/connections/connections.ts';
import {
  CallbackParams,
  ConnectionInput,
  ConnectionsAnswer,
  ConnectionWithSecretAnswer,
  CreateConnectionInput,
  RotateConnectionInput,
} from '../features/meeting-providers/connections/schemas.ts';
import {
  type FoundConnection,
  findConnection,
  receiveCallback,
} from '../features/meeting-providers/ingest/receive-callback.ts';
import { limitNetwork } from '../trpc/access.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';
import { type RawAccess, rawOperation } from '../trpc/raw-operation.ts';

const tags = ['Meeting providers'];
const MAX_CALLBACK_BYTES = 1024 * 1024;
const SIGNATURE_HEADER =
  'Required for generic, which signs as Standard Webhooks does. vonage and livekit send `Authorization`';

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

/**
 * How vonage and livekit sign a callback. It is declared as a scheme because OpenAPI ignores a parameter with the name
 * Authorization, and as an API key because livekit sends no `Bearer`.
 */
const meetingProvider = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description:
    'The JWT with which a meeting provider signs a callback: after `Bearer` for vonage, alone for livekit. It is valid for callbacks only',
} as const;

/** The connection whose `ingest_url` the callback was sent to. Its signature is verified with the body. */
const connectionOfCallback: RawAccess<FoundConnection> = {
  credential: { schemes: { meetingProvider } },
  async admit({ context, params }) {
    const connection = await findConnection(context.services, params.connectionId ?? '');
    if (connection !== null) return connection;
    // A provider sends from few addresses, so only calls that do not come from one are counted by network.
    await limitNetwork(context);
    throw notFound('Connection');
  },
};

export const providerCallback = rawOperation({
  name: 'ingest.callback',
  method: 'POST',
  path: '/api/ingest/{connectionId}',
  params: CallbackParams,
  headers: {
    'webhook-id': SIGNATURE_HEADER,
    'webhook-timestamp': SIGNATURE_HEADER,
    'webhook-signature': SIGNATURE_HEADER,
  },
  tags,
  summary: 'Receive a callback of a meeting provider',
  description:
    'For meeting providers. A body of any content type and of at most 1 MiB, signed as the provider of the connection signs. The schema is that of `generic`. 200 means that the callback is stored, also when it was sent before, which changes nothing. A signature that is missing, wrong or too old is refused with 401, and counts against the network address. 503 with `Retry-After` (seconds) when too many callbacks of the workspace are waiting; nothing is stored.',
  access: connectionOfCallback,
  request: { kind: 'bytes', maxBytes: MAX_CALLBACK_BYTES, schema: GenericEvent },
  response: { kind: 'json', schema: Ok, description: 'The callback is stored' },
  refusals: [401, 404],
  async handle({ services, caller, headers, body }) {
    await receiveCallback(services, caller, { headers, body });
    return { ok: true };
  },
});
