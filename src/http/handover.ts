/** From the hook of a route that runs before the body is read to its handler. */
import type { FastifyRequest } from 'fastify';

export type Handover<Value> = {
  give(request: FastifyRequest, value: Value): void;
  /** Throws where nothing was given: the route has no hook that does, which is our bug. */
  take(request: FastifyRequest): Value;
};

/** Hands over what a hook has found out about a request; it is forgotten with the request. */
export function createHandover<Value>(): Handover<Value> {
  const given = new WeakMap<FastifyRequest, { value: Value }>();
  return {
    give(request, value) {
      given.set(request, { value });
    },
    take(request) {
      const known = given.get(request);
      if (known === undefined)
        throw new Error(`Nothing was found out about ${request.method} ${request.routeOptions.url}`);
      return known.value;
    },
  };
}
