import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SECOND_MS } from '../core/time.ts';

/** A call whose response has been sent. `route` is the pattern of the path, never the path itself. */
export type FinishedCall = { method: string; route: string; status: number; seconds: number };

export type CallObserver = (call: FinishedCall) => void;

/** The route of requests to unknown paths. */
const UNMATCHED = 'unmatched';

const observed = new WeakSet<FastifyRequest>();

/**
 * Observes each request when its response has been sent, except requests whose calls are observed separately. Call this
 * function before the first route is added.
 */
export function observeRequests(app: FastifyInstance, observe: CallObserver): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (!observed.has(request)) {
      const { method, routeOptions } = request;
      const { statusCode: status, elapsedTime } = reply;
      observe({ method, route: routeOptions.url ?? UNMATCHED, status, seconds: elapsedTime / SECOND_MS });
    }
    done();
  });
}

/** Marks a request, such as a batch, whose calls are observed separately. */
export function observeCallsOf(request: FastifyRequest): void {
  observed.add(request);
}
