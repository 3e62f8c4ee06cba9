/**
 * The headers of every response. They state what browsers may do with it, and which origins may read it (CORS,
 * https://fetch.spec.whatwg.org/#http-cors-protocol). The headers are prepared once: plugins that assemble them for
 * each request cost as much as the rest of a small request.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { badRequest } from '../core/errors.ts';
import { tusHeaders, tusPath } from '../trpc/tus-operations.ts';

/** Origins whose pages may read responses. `*` allows all origins, but without cookies. */
export type CorsOrigins = '*' | readonly (string | RegExp)[];

/** Responses are data. A browser that opens a response as a page must not run or load anything from it. */
const dataHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'self'",
  // Pages of other origins may call the API.
  'cross-origin-resource-policy': 'cross-origin',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
};

/**
 * The headers of pages. Pages load scripts, styles and images only from this service. The API reference has its own
 * policy.
 */
export const pageHeaders = {
  ...dataHeaders,
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'self'; " +
    "img-src 'self'; script-src 'self'; style-src 'self'",
  'cross-origin-opener-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
  'x-frame-options': 'SAMEORIGIN',
};

/** Headers that pages of other origins may read. */
const exposedHeaders = [
  'x-request-id',
  'retry-after',
  'www-authenticate',
  'idempotency-replayed',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'accept-ranges',
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
  'deprecation',
  'sunset',
  'link',
  'x-trace-id',
  'location',
  'tus-resumable',
  'tus-version',
  'tus-extension',
  'tus-max-size',
  'upload-offset',
  'upload-length',
  'upload-defer-length',
  'upload-metadata',
  'upload-expires',
  'upload-result',
].join(', ');

const VARIES = 'Accept-Encoding, Origin';

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-max-age': '3600',
  'content-length': '0',
};

/** Adds the headers to every response, and responds to OPTIONS. */
export function setResponseHeaders(app: FastifyInstance, origins: CorsOrigins): void {
  const all = {
    ...dataHeaders,
    ...(origins === '*' ? { 'access-control-allow-origin': '*', vary: 'Accept-Encoding' } : { vary: VARIES }),
  };
  // A browser may store the response to a read, but must revalidate it before each use. The response to a write may
  // contain a secret, and must not be stored.
  const ofReads = { ...all, 'cache-control': 'private, no-cache' };
  const ofWrites = { ...all, 'cache-control': 'no-store' };
  app.addHook('onRequest', (request, reply, done) => {
    const { method } = request;
    reply.header('x-request-id', request.id).headers(method === 'GET' || method === 'HEAD' ? ofReads : ofWrites);
    if (request.url.startsWith('/docs')) reply.headers(pageHeaders);
    const { origin } = request.headers;
    if (origin !== undefined) allowReading(reply, origin, origins);
    if (method !== 'OPTIONS') return done();
    const isOfUpload = tusPath.test(request.url);
    if (isOfUpload) reply.headers(tusHeaders);
    if (isPreflight(request)) answerPreflight(request, reply);
    else if (isOfUpload) reply.status(204).send();
    else done(badRequest('OPTIONS needs the headers Origin and Access-Control-Request-Method'));
  });
  // Without this route, Fastify would respond with 404. The hook responds before the handler runs.
  app.options('*', (_request, reply) => reply.send());
}

function allowReading(reply: FastifyReply, origin: string, origins: CorsOrigins): void {
  reply.header('access-control-expose-headers', exposedHeaders);
  if (origins === '*' || !origins.some((one) => (typeof one === 'string' ? one === origin : one.test(origin)))) return;
  reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true');
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

function answerPreflight({ headers }: FastifyRequest, reply: FastifyReply): void {
  addVary(reply, 'Access-Control-Request-Headers');
  const asked = headers['access-control-request-headers'];
  if (asked !== undefined) reply.header('access-control-allow-headers', asked);
  reply.status(204).headers(preflightHeaders).send();
}

/** Adds the request header `name` to the `Vary` header of a response. */
export function addVary(reply: FastifyReply, name: string): void {
  const others = reply.getHeader('vary');
  reply.header('vary', others === undefined ? name : `${others}, ${name}`);
}
