/** Sends errors as HTTP responses. The format of the body does not depend on the layer that throws the error. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode, requestCutOff } from '../core/errors.ts';
import { headersOf, httpStatusOf, toProblem } from '../core/problem.ts';
import { fromUnexpected, toTrpcShape } from '../trpc/errors.ts';
import { logFailure } from './log-failure.ts';

/** Maps Fastify's error codes to our own codes and messages. */
const fastifyRefusals: Record<string, [ErrorCode, string]> = {
  FST_ERR_BAD_URL: ['BAD_REQUEST', 'Malformed URL'],
  FST_ERR_ASYNC_CONSTRAINT: ['BAD_REQUEST', 'Malformed URL'],
  FST_ERR_MAX_PARAM_LENGTH: ['URI_TOO_LONG', 'A path parameter is too long'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['BAD_REQUEST', 'Request body does not match its Content-Length'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['BAD_REQUEST', 'Request body must be valid JSON'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['BAD_REQUEST', 'Request body must not be empty'],
};

/**
 * Maps the statuses of other errors of Fastify and its plugins, such as the error for a path that points outside
 * `/docs`.
 */
const refusalsByStatus: Record<number, [ErrorCode, string]> = {
  400: ['BAD_REQUEST', 'Bad request'],
  403: ['NOT_FOUND', 'Not found'],
  404: ['NOT_FOUND', 'Not found'],
  413: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'],
};

/** Headers that describe a body. */
const bodyHeaders = [
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'last-modified',
];

/** Sends an error. Logs an unexpected error in full, with the request id that the response contains. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // An error of the request stream means that the client has disconnected. This is not a bug in the service.
  const wasCutOff = error !== null && error === request.raw.errored;
  const known = wasCutOff ? requestCutOff() : toAppError(error);
  const status = httpStatusOf(known);
  logFailure(request.log, known);
  removeStreamHeaders(reply);
  // A request with a malformed URL is rejected before the hook that sets this header.
  reply.header('x-request-id', request.id);
  return reply.headers(headersOf(known)).status(status).send(toBody(known, request));
}

/**
 * Removes the headers of a stream that failed before its first byte. Fastify has set them on Node's response, where
 * they would remain next to the headers of the error.
 */
function removeStreamHeaders(reply: FastifyReply): void {
  const { raw } = reply;
  if (raw.headersSent) return;
  for (const name of raw.getHeaderNames()) {
    raw.removeHeader(name);
    if (bodyHeaders.includes(name)) reply.removeHeader(name);
  }
}

/**
 * tRPC clients can read errors only in the tRPC format, even when a whole batch is rejected before its calls are known.
 */
function toBody(error: AppError, { id, url }: FastifyRequest): object {
  return url.startsWith('/trpc/') ? { error: toTrpcShape(error, undefined, id) } : toProblem(error, id);
}

/** Converts any thrown value to an `AppError`. Hides the details of an unexpected error. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = '', statusCode = 500 } = (error ?? {}) as Partial<FastifyError>;
  const refusal = fastifyRefusals[code] ?? (code.startsWith('FST_') ? refusalsByStatus[statusCode] : undefined);
  return refusal ? new AppError(...refusal, { cause: error }) : fromUnexpected(error);
}

/** Responds to a request for an unknown path. Returns null if the response should be a 404. */
export type Fallback = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

/** Handles all errors, and unknown paths unless `fallback` responds to them. */
export function handleErrors(app: FastifyInstance, fallback: Fallback = () => null): void {
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(
    (request, reply) => fallback(request, reply) ?? sendError(new AppError('NOT_FOUND', 'Not found'), request, reply),
  );
}

/**
 * Responds with 405 and `Allow` if the path is known but the method is not, before the body is read. Call this function
 * before the first route is added, and call the function that it returns after the last route.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsOf.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsOf.set(url, methods);
  });
  return () => {
    for (const [url, methods] of [...methodsOf]) {
      // The docs pages are not part of the API. They register their paths with and without a trailing slash.
      if (url.startsWith('/docs')) continue;
      // CORS handles OPTIONS for every path.
      if (url === '*') continue;
      const others = app.supportedMethods.filter((method) => !methods.has(method) && method !== 'OPTIONS');
      const allow = [...methods].sort().join(', ');
      if (others.length === 0) continue;
      app.route({
        url,
        method: others,
        exposeHeadRoute: false,
        onRequest(request, reply) {
          reply.header('allow', allow);
          sendError(new AppError('METHOD_NOT_ALLOWED', 'Method not allowed'), request, reply);
        },
        handler() {
          throw new Error('The onRequest hook has already responded');
        },
      });
    }
  };
}
