/** `/trpc`: tRPC's own adapter, over the same procedures that the REST paths call. */
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import type { FastifyInstance } from 'fastify';
import { type AppRouter, appRouter } from '../routers/index.ts';
import type { Services } from '../services.ts';
import { fromTrpcError } from '../trpc.ts';
import { createContext } from './context.ts';

/** A batch of more calls than this is refused, so that one request is not a thousand. */
const MOST_BATCH = 50;

export const serveTrpc = async (app: FastifyInstance, services: Services): Promise<void> => {
  const trpcOptions: FastifyTRPCPluginOptions<AppRouter>['trpcOptions'] = {
    router: appRouter,
    maxBatchSize: MOST_BATCH,
    createContext: ({ req, res }) => createContext(services, req, res),
    responseMeta({ errors }) {
      const isUnknown = errors.some((error) => fromTrpcError(error).code === 'UNAUTHORIZED');
      return isUnknown ? { headers: { 'www-authenticate': 'Bearer' } } : {};
    },
    onError({ error, req }) {
      const known = fromTrpcError(error);
      if (known.code === 'INTERNAL_SERVER_ERROR') req.log.error({ err: error }, known.message);
    },
  };
  await app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
};
