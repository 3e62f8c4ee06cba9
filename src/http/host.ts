import type { FastifyInstance } from 'fastify';
import { AppError } from '../core/errors.ts';

/** A name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 3986 section 3.2.2). */
const HOST = /^(?:[a-z0-9._~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i;

/** Answers 400 to a malformed Host header (RFC 9112 section 3.2). Download URLs are built from it. */
export function refuseWrongHosts(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // `request.host` is the forwarded host if a trusted proxy sends one.
    const isHost = HOST.test(request.headers.host ?? '') && HOST.test(request.host);
    done(isHost ? undefined : new AppError('BAD_REQUEST', 'Malformed Host header'));
  });
}
