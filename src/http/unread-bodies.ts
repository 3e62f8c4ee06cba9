/** Ends connections whose request gets a response before its body has been read. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkOf } from '../auth/networks.ts';
import { createLimiter } from '../core/limiter.ts';
import { announcedLength, hasBody } from './body-admission.ts';

export type UnreadBodyLimits = {
  /** How long a client has to read the response before its connection is closed, in milliseconds. */
  lingerMs: number;
  /** How many connections may wait for that. The others are closed at once, and their clients may miss the response. */
  maxLingering: number;
};

const defaultLimits: UnreadBodyLimits = { lingerMs: 1_000, maxLingering: 256 };

/** A larger body, or one of unknown length, is not drained. Node buffers as much of it before it stops reading. */
const MAX_DRAINED_BYTES = 64 * 1024;

/**
 * Stops reading a body once its request has a response, unless the body is small, and closes the connection. To drain
 * the body would cost more than to reject the request. A socket that is closed while data is unread is reset, and the
 * client could lose the response (RFC 9112 section 9.6). Therefore it stays open for a moment.
 */
export function closeUnreadBodies(app: FastifyInstance, { lingerMs, maxLingering } = defaultLimits): void {
  const lingering = createLimiter<string>({ max: maxLingering, maxPerKey: 'rest' });

  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    if (!isUnread(request)) return done(null, payload);
    request.raw.pause();
    reply.header('connection', 'close');
    if (typeof payload !== 'string') return done(null, payload);
    const release = lingering.tryTake(networkOf(request.ip));
    if (release === null) return done(null, payload);
    reply.header('content-length', Buffer.byteLength(payload));
    reply.raw.once('close', release);
    done(null, endLater(payload, lingerMs));
  });
}

function isUnread(request: FastifyRequest): boolean {
  if (!hasBody(request) || request.raw.complete || request.routeOptions.config.boundsOwnBody) return false;
  const length = announcedLength(request);
  return length === null || length > MAX_DRAINED_BYTES;
}

/** A response that is sent immediately and ends after `ms`. Before its end, Node leaves the connection as it is. */
function endLater(text: string, ms: number): Readable {
  const response = new Readable({ read() {} });
  const timer = setTimeout(() => response.push(null), ms);
  response.once('close', () => clearTimeout(timer));
  response.push(text);
  return response;
}
