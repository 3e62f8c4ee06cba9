import type { FastifyInstance } from 'fastify';
import { AppError } from '../core/errors.ts';

/** A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port (RFC 3986 section 3.2.2). */
const HOST = /^(?:[a-z0-9._~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i;

/** Answers 400 to a request that names no host where it should (RFC 9112 section 3.2): URLs are made of it. */
export function refuseWrongHosts(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // The second is the one that a trusted proxy forwards.
    const isHost = HOST.test(request.headers.host ?? '') && HOST.test(request.host);
    done(isHost ? undefined : new AppError('BAD_REQUEST', 'Malformed Host header'));
  });
}
