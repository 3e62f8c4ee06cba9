/** Limits the time that a client may take to send a body. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { sendError } from './errors.ts';

/** In milliseconds. */
export type BodyTimeouts = {
  /** How long a body may take to arrive. Operations that stream their bodies have their own limits. */
  bodyMs: number;
  /** How long a client may continue to send after the response. */
  lingerMs: number;
};

const defaultTimeouts: BodyTimeouts = { bodyMs: 10_000, lingerMs: 10_000 };

/**
 * Responds with 408 to a body that arrives too slowly. Closes the connection if the client is still sending afterwards.
 */
export function limitBodyTime(app: FastifyInstance, timeouts = defaultTimeouts): void {
  app.addHook('onResponse', (request, reply, done) => {
    // Node closes the other connections itself.
    if (reply.getHeader('connection') !== 'close') closeLingering(request, timeouts.lingerMs);
    done();
  });
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { method, raw, routeOptions } = request;
    if (method === 'GET' || method === 'HEAD' || raw.complete || routeOptions.config.boundsOwnBody) return done();
    const timer = setTimeout(() => {
      if (reply.sent) return;
      sendError(new AppError('REQUEST_TIMEOUT', 'The request body arrived too slowly'), request, reply);
      reply.raw.once('finish', () => raw.destroy());
    }, timeouts.bodyMs);
    raw.once('end', () => clearTimeout(timer));
    raw.once('close', () => clearTimeout(timer));
    done();
  });
}

/** Closes the connection if the client continues to send a body after the request was rejected. */
function closeLingering({ raw }: FastifyRequest, lingerMs: number): void {
  if (raw.complete || raw.destroyed) return;
  const { socket } = raw;
  const timer = setTimeout(() => raw.destroy(), lingerMs);
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('close', stop);
  };
  // After the response, a request does not emit 'close' when its connection closes.
  socket.once('close', stop);
  raw.once('end', stop);
}
