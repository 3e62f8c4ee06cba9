/** Serves the procedures at `/trpc` with tRPC's own adapter. */
import type { AnyTRPCRouter } from '@trpc/server';
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import type { FastifyInstance } from 'fastify';
import { createBatchBounds } from '../core/batch-bounds.ts';
import { AppError, badRequest } from '../core/errors.ts';
import { headersOf } from '../core/problem.ts';
import type { Services } from '../services.ts';
import { currentRequestId } from '../trpc/context.ts';
import { fromTrpcError } from '../trpc/errors.ts';
import { createContext } from './context.ts';
import { logFailure } from './log-failure.ts';

/** The maximum number of calls in one batch. */
const MAX_BATCH = 50;

const METHODS = ['GET', 'HEAD', 'POST'];

export async function serveTrpc(app: FastifyInstance, services: Services, router: AnyTRPCRouter): Promise<void> {
  const trpcOptions: FastifyTRPCPluginOptions<AnyTRPCRouter>['trpcOptions'] = {
    router,
    maxBatchSize: MAX_BATCH,
    createContext: ({ req, res, info }) =>
      createContext(services, req, res, { batch: info.calls.length > 1 ? createBatchBounds() : null }),
    responseMeta({ errors }) {
      const failures = errors.map(fromTrpcError);
      // A batch has one response. Its Retry-After is the longest of all its calls.
      failures.sort((a, b) => (a.retryAfterSeconds ?? 0) - (b.retryAfterSeconds ?? 0));
      return { headers: Object.assign({}, ...failures.map(headersOf)) };
    },
    onError({ error, req }) {
      logFailure(req.log, fromTrpcError(error));
    },
  };
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers } = request;
    // The adapter accepts every method, but throws for those that a fetch Request does not allow, such as TRACE.
    if (!METHODS.includes(method) && method !== 'OPTIONS') {
      reply.header('allow', METHODS.join(', '));
      return done(new AppError('METHOD_NOT_ALLOWED', 'Method not allowed'));
    }
    // With this header the adapter streams the response, so a procedure could no longer set a cookie or a status.
    if (headers['trpc-accept'] !== undefined)
      return done(new AppError('BAD_REQUEST', 'Streamed batches are not supported: use httpBatchLink'));
    // The adapter responds to other content types, and to a POST without one, with an error format of its own.
    const isJson = /^application\/json\b/i.test(
      headers['content-type'] ?? (method === 'POST' ? '' : 'application/json'),
    );
    if (!isJson) return done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'));
    if (countCalls(request.url) > MAX_BATCH) return done(badRequest(`A batch has at most ${MAX_BATCH} calls`));
    done();
  });
  app.addHook('onRequest', (request, _reply, done) => currentRequestId.run(request.id, done));
  await app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
}

/** The number of calls that a URL such as `/trpc/labels.list,rooms.list?batch=1` names. */
function countCalls(url: string): number {
  const [path = ''] = url.split('?', 1);
  return decodeURIComponent(path).split(',').length;
}
