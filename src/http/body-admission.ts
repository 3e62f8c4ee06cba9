/**
 * Decides, before a body is read, whether the process can afford it. Bodies that are read into memory share a budget.
 * Streamed bodies have limits of their own.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../auth/networks.ts';
import { AppError, serviceUnavailable, tooManyRequests } from '../core/errors.ts';
import { isHeapFull } from '../core/heap-watch.ts';
import { createLimiter } from '../core/limiter.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit of a body if it depends on the request. Otherwise it is the `bodyLimit` of the route. */
    bodyLimitOf?: (request: FastifyRequest) => number;
  }
}

export type BodyBounds = {
  /** The memory for bodies and what they are parsed into, from their arrival until the response. */
  totalBytes: number;
  /** How many bodies of one network may be incomplete at the same time. */
  maxIncomplete: number;
  isHeapFull: () => boolean;
};

export const defaultBodyBounds: BodyBounds = { totalBytes: 64 * 1024 * 1024, maxIncomplete: 100, isHeapFull };

/** The memory that a byte of JSON takes up at most, once it is parsed: 21 bytes for `{},{},...`. */
const MEMORY_PER_BYTE = 24;
const RETRY_SECONDS = 1;
/** V8 needs a moment to free memory. */
const HEAP_RETRY_SECONDS = 2;

/**
 * Rejects a body with 413 if it is too large for its operation, with 503 if the heap is almost full, and with 429 if
 * its network already has too many bodies in this process. A network may use as much memory as is left for all others.
 */
export function admitBodies(app: FastifyInstance, bounds: BodyBounds): void {
  const memory = createLimiter<string>({
    max: bounds.totalBytes,
    maxPerKey: 'rest',
    full: (network): AppError => (memory.heldBy(network) > 0 ? tooManyBodies() : busy(RETRY_SECONDS)),
  });
  const incomplete = createLimiter<string>({ maxPerKey: bounds.maxIncomplete, full: tooManyBodies });

  const admit = (request: FastifyRequest, reply: FastifyReply): void => {
    const max = bodyLimitOf(request);
    const bytes = announcedLength(request) ?? max;
    if (bytes > max) throw bodyTooLarge();
    const network = networkOf(request.ip);
    if (bounds.isHeapFull()) throw busy(HEAP_RETRY_SECONDS);
    reply.raw.once('close', memory.take(network, bytes * MEMORY_PER_BYTE));
    if (!request.raw.complete) request.raw.once('close', incomplete.take(network));
  };

  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (!hasBody(request) || request.routeOptions.config.boundsOwnBody || request.is404) return done();
    try {
      admit(request, reply);
      done();
    } catch (error) {
      // `as`: `admit` throws an AppError.
      done(error as AppError);
    }
  });
}

/** Whether the headers of a request announce a body. A chunked one may still be empty. */
export function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Returns how large the body of a request may be, in bytes. */
export function bodyLimitOf(request: FastifyRequest): number {
  const { bodyLimit, config } = request.routeOptions;
  return config.bodyLimitOf?.(request) ?? bodyLimit;
}

/** Returns the Content-Length, or null for a chunked body. */
export function announcedLength({ headers }: FastifyRequest): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length']) : null;
}

export function bodyTooLarge(): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'Request body is too large');
}

function tooManyBodies(): AppError {
  return tooManyRequests('Too many requests at once from your network: wait for earlier ones to finish', RETRY_SECONDS);
}

function busy(retrySeconds: number): AppError {
  return serviceUnavailable('The service is busy: try again in a moment', retrySeconds);
}
