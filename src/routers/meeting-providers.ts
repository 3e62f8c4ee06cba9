import { notFound } from '../core/errors.ts';
import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { GenericEvent } from '../features/meeting-providers/adapters/generic.ts';
import { MAX_CALLBACK_BYTES } from '../features/meeting-providers/adapters/read.ts';
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
  UnmatchedAnswer,
  UnmatchedInput,
} from '../features/meeting-providers/connections/schemas.ts';
import {
  type FoundConnection,
  findConnection,
  receiveCallback,
} from '../features/meeting-providers/ingest/receive-callback.ts';
import { listUnmatched } from '../features/meeting-providers/ingest/unmatched-callbacks.ts';
import { countMiss } from '../trpc/access.ts';
import { inWorkspace, inWorkspaceBySession, router } from '../trpc/procedures.ts';
import { type RawAccess, rawOperation } from '../trpc/raw-operation.ts';

const tags = ['Meeting providers'];
const SIGNATURE_HEADER =
  'Required for generic, which uses Standard Webhooks signatures. vonage and livekit send `Authorization` instead';

export const connectionsRouter = router({
  list: inWorkspace('owner')
    .meta({
      noStore: true,
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/connections',
        tags,
        summary: 'List the connections to meeting providers',
        successDescription: 'The connections of the workspace',
        description: 'Owner only. All connections of the workspace, oldest first, without their credentials.',
      },
    })
    .input(ListPageInput)
    .output(ConnectionsAnswer)
    .query(async ({ ctx, input }) =>
      pageAs('connections', await listConnections(ctx.services, ctx.actor, input, ctx.origin)),
    ),

  create: inWorkspaceBySession('owner')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/connections',
        tags,
        summary: 'Connect a meeting provider',
        successDescription: 'The new connection, with its secret',
        description:
          'Owner only. The provider posts its callbacks to `ingest_url`. vonage and ' +
          'livekit require `credentials`; for generic the service creates a `secret`, which is returned only here.',
      },
    })
    .input(CreateConnectionInput)
    .output(ConnectionWithSecretAnswer)
    .mutation(async ({ ctx, input }) => ({
      connection: await createConnection(ctx.services, ctx.actor, input, ctx.origin),
    })),

  rotate: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/connections/{connectionId}/rotate',
        tags,
        summary: 'Replace the credentials of a connection',
        successDescription: 'The connection with its new credentials',
        description:
          'Owner only. vonage and livekit require `credentials`; for generic the service ' +
          'creates a new `secret`, which is returned only here. Callbacks signed with the previous credentials are ' +
          'accepted for another 24 hours; older credentials stop working at once. `ingest_url` does not change.',
      },
    })
    .input(RotateConnectionInput)
    .output(ConnectionWithSecretAnswer)
    .mutation(async ({ ctx, input }) => ({
      connection: await rotateConnection(ctx.services, ctx.actor, input, ctx.origin),
    })),

  listUnmatched: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/connections/{connectionId}/unmatched',
        tags,
        summary: 'List callbacks that matched nothing',
        successDescription: 'The callbacks that matched nothing',
        description:
          'Owner only. The callbacks of a connection that matched no room or participant, and so changed nothing: ' +
          'the newest 1,000 of the last 30 days, newest first. A repeated callback is listed once.',
      },
    })
    .input(UnmatchedInput)
    .output(UnmatchedAnswer)
    .query(async ({ ctx, input }) => pageAs('unmatched', await listUnmatched(ctx.services, ctx.actor, input))),

  delete: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/connections/{connectionId}',
        tags,
        summary: 'Delete a connection',
        successDescription: 'The connection is deleted',
        description:
          'Owner only. The `ingest_url` of the connection returns 404 afterwards. ' +
          'Participants and recordings that the provider reported remain.',
      },
    })
    .input(ConnectionInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteConnection(ctx.services, ctx.actor, input)),
});

/**
 * How vonage and livekit sign a callback. It is declared as a security scheme because OpenAPI ignores a header
 * parameter named Authorization, and as an API key because livekit sends no `Bearer`.
 */
const meetingProvider = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description:
    'The JWT with which a meeting provider signs a callback: with `Bearer` for vonage, without it for livekit. It is ' +
    'valid for callbacks only',
} as const;

/** Finds the connection by its `ingest_url`. The signature is verified later, with the body. */
const connectionOfCallback: RawAccess<FoundConnection> = {
  credential: { schemes: { meetingProvider } },
  async admit({ context, params }) {
    const connection = await findConnection(context.services, params.connectionId ?? '');
    if (connection !== null) return connection;
    // Callbacks for known connections count toward the limit of the network only if they are rejected with 401,
    // because a provider sends many callbacks from a few addresses.
    countMiss(context);
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
  summary: 'Receive a callback from a meeting provider',
  description:
    'For meeting providers. Accepts a body of at most 64 KiB with any content type, signed by the provider of the ' +
    'connection. The schema shown here is that of `generic`. 200 means that the callback is stored; sending it again ' +
    'changes nothing. 401 if the signature is missing, invalid or expired; such a callback counts toward the rate ' +
    'limit of the network address. 503 with `Retry-After` (seconds) if too many callbacks of the workspace are ' +
    'waiting, in which case nothing is stored.',
  access: connectionOfCallback,
  request: { kind: 'bytes', maxBytes: MAX_CALLBACK_BYTES, schema: GenericEvent },
  response: { kind: 'json', schema: Ok, description: 'The callback is stored' },
  refusals: [401, 404],
  async handle({ services, caller, headers, body }) {
    await receiveCallback(services, caller, { headers, body });
    return { ok: true };
  },
});
