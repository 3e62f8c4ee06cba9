/** `/trpc`: tRPC's own adapter, over the same procedures that the REST paths call. */
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../core/errors.ts';
import { headersOf, httpStatusOf } from '../core/problem.ts';
import { type AppRouter, appRouter } from '../routers/index.ts';
import type { Services } from '../services.ts';
import { fromTrpcError } from '../trpc/trpc.ts';
import { createContext } from './context.ts';

/** A batch of more calls than this is refused, so that one request is not a thousand. */
const MAX_BATCH = 50;

const METHODS = ['GET', 'HEAD', 'POST'];

export async function serveTrpc(app: FastifyInstance, services: Services): Promise<void> {
  const trpcOptions: FastifyTRPCPluginOptions<AppRouter>['trpcOptions'] = {
    router: appRouter,
    maxBatchSize: MAX_BATCH,
    createContext: ({ req, res }) => createContext(services, req, res),
    responseMeta({ errors }) {
      // A batch is one response: of several waits, the longest is sent.
      const failures = errors
        .map(fromTrpcError)
        .sort((a, b) => (a.retryAfterSeconds ?? 0) - (b.retryAfterSeconds ?? 0));
      return { headers: Object.assign({}, ...failures.map(headersOf)) };
    },
    onError({ error, req }) {
      const known = fromTrpcError(error);
      if (httpStatusOf(known) >= 500) req.log.error({ err: known.cause ?? known }, known.message);
    },
  };
  // The adapter takes any method, and fails at those that a fetch Request cannot have; and it answers a foreign content
  // type before it knows the request.
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers } = request;
    if (!METHODS.includes(method) && method !== 'OPTIONS') {
      reply.header('allow', METHODS.join(', '));
      return done(new AppError('METHOD_NOT_ALLOWED', 'Method not allowed'));
    }
    // The adapter answers it as a stream, whose head is gone before a procedure can set a cookie or a status.
    if (headers['trpc-accept'] !== undefined)
      return done(new AppError('BAD_REQUEST', 'Streamed batches are not supported: use httpBatchLink'));
    const isJson = /^application\/json\b/i.test(headers['content-type'] ?? 'application/json');
    done(isJson ? undefined : new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'));
  });
  await app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
}
