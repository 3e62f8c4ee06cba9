/** POST /api/ingest/:connectionId: where meeting providers post. No procedure, because signatures are of the raw bytes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../auth/rate-limits.ts';
import { notFound } from '../core/errors.ts';
import { UnverifiedCallback } from '../features/meeting-providers/adapters/provider-adapter.ts';
import {
  type FoundConnection,
  findConnection,
  receiveCallback,
} from '../features/meeting-providers/ingest/receive-callback.ts';
import type { Services } from '../services.ts';
import { createContext } from './context.ts';
import { routeOf } from './fastify-path.ts';
import { createHandover } from './handover.ts';
import { INGEST_PATH } from './ingest-document.ts';

const MAX_CALLBACK_BYTES = 1024 * 1024;

const connections = createHandover<FoundConnection>();

/** Registers the way in. Its own plugin context, because here a body of any type is taken as it is. */
export function serveIngest(app: FastifyInstance, services: Services): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  /** A provider has few addresses, so that only what does not come from one counts by them. */
  const limitStrangers = (request: FastifyRequest, reply: FastifyReply): Promise<void> =>
    services.limits.consume('publicPerAddress', networkOf(request.ip), createContext(services, request, reply));

  app.route<{ Params: { connectionId: string }; Body: Buffer | undefined }>({
    method: 'POST',
    url: routeOf(INGEST_PATH),
    bodyLimit: MAX_CALLBACK_BYTES,
    // Before the body is read, so that strangers cannot make us read one.
    async onRequest(request, reply) {
      // Fastify itself would answer 415 to a type that is none.
      delete request.headers['content-type'];
      const connection = await findConnection(services, request.params.connectionId);
      if (connection === null) {
        await limitStrangers(request, reply);
        throw notFound('Connection');
      }
      connections.give(request, connection);
    },
    async handler(request, reply) {
      const connection = connections.take(request);
      const { headers, body = Buffer.alloc(0) } = request;
      try {
        await receiveCallback(services, connection, { headers, body });
      } catch (error) {
        if (error instanceof UnverifiedCallback) await limitStrangers(request, reply);
        throw error;
      }
      return { ok: true };
    },
  });
}
