import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';

/** A name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 3986 section 3.2.2). */
const HOST = /^(?:[a-z0-9._~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i;

const LOCAL_HOST = /^(?:(?:[a-z0-9-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])?(?::\d+)?$/i;

/**
 * Whether a Host header is empty, or names this machine regardless of DNS. Browsers resolve `*.localhost` to loopback
 * without DNS.
 */
export function isLocalHost(host = ''): boolean {
  return LOCAL_HOST.test(host);
}

/**
 * Responds with 400 to a malformed or repeated Host header (RFC 9112 section 3.2), because download URLs are built from
 * the host. If `refuseForeign` is set, also responds with 400 to a host other than this machine. Rejects transfer
 * encodings other than `chunked`.
 */
export function refuseWrongHosts(app: FastifyInstance, refuseForeign: boolean): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // `request.host` is the forwarded host if a trusted proxy sends one.
    const isHost = HOST.test(request.headers.host ?? '') && HOST.test(request.host);
    // Node would not decode other codings (RFC 9112 section 6.1).
    if (!/^chunked$/i.test(request.headers['transfer-encoding'] ?? 'chunked'))
      done(new AppError('BAD_REQUEST', 'The transfer encoding is not supported'));
    else if (!isHost || countHosts(request.raw.rawHeaders) > 1)
      done(new AppError('BAD_REQUEST', 'Malformed Host header'));
    else if (refuseForeign && !isLocalHost(request.headers.host) && !isProbe(request))
      done(new AppError('BAD_REQUEST', 'Unknown host name: set PUBLIC_URL to use a name other than localhost'));
    else done();
  });
}

/** Node keeps only the first Host header, but a proxy may use a different one. */
function countHosts(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
}

function isProbe({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url === '/health' || routeOptions.url === '/ready';
}
