/**
 * Passes the bounds of a call from one Fastify hook to the next. Fastify itself does not keep an AsyncLocalStorage's
 * context between hooks.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CallBounds, createRequestBounds, type RequestBounds, runCall } from '../core/call-bounds.ts';
import { requestCutOff } from '../core/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Set by the first call of `requestBounds`. Before that, it is null in an app that decorates its requests with this
     * field, and otherwise undefined.
     */
    bounds?: RequestBounds | null;
  }
}

/** Returns the bounds that all calls of a request share. */
export function requestBounds(request: FastifyRequest, reply: FastifyReply): RequestBounds {
  if (request.bounds) return request.bounds;
  const hangUp = new AbortController();
  reply.raw.once('close', () => {
    // The response also closes after it is complete.
    if (!reply.raw.writableFinished) hangUp.abort(requestCutOff());
  });
  request.bounds = createRequestBounds(hangUp.signal, request.id);
  return request.bounds;
}

/** Runs a call, or the part of a call that precedes reading the body, with bounds of its own. */
export function runBounded<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: { name: string; method: string },
  work: (call: CallBounds) => Result,
): Result {
  const [feature = ''] = operation.name.split('.');
  return runCall(requestBounds(request, reply), { feature, isRead: operation.method === 'GET' }, work);
}

/** Returns an iterable that is read in the current asynchronous context, regardless of the context of its reader. */
export function keepContext<Item>(iterable: AsyncIterable<Item>): AsyncIterable<Item> {
  const inContext = AsyncLocalStorage.snapshot();
  const iterator = iterable[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => inContext(() => iterator.next()),
      return: async () => inContext(() => iterator.return?.()) ?? { done: true, value: undefined },
    }),
  };
}
