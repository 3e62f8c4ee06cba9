import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type StartedSpan, startSpan } from '../core/tracing.ts';

/**
 * Creates a span for each request. Its name and attributes contain the pattern of the path, never the path itself,
 * because a path may contain a token. Responses have the trace id in the header `x-trace-id`, and log lines of the
 * request have it in the field `trace_id`. Call this function before any other hook is added, and only if an SDK is
 * loaded.
 */
export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, StartedSpan>();
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers, id, routeOptions } = request;
    const route = routeOptions.url;
    const span = startSpan(route === undefined ? method : `${method} ${route}`, {
      kind: 'server',
      attributes: { 'http.request.method': method, ...(route && { 'http.route': route }), 'lynxroom.request_id': id },
      parent: headers,
    });
    if (span === null) return done();
    spans.set(request, span);
    reply.header('x-trace-id', span.traceId);
    request.log = request.log.child({ trace_id: span.traceId });
    reply.log = request.log;
    // The response also closes if the caller hangs up.
    reply.raw.once('close', () => {
      const { statusCode } = reply;
      span.end({ attributes: { 'http.response.status_code': statusCode }, hasFailed: statusCode >= 500 });
    });
    span.run(done);
  });
  // The body is read by a listener of the connection, outside the span, so the span is entered again.
  app.addHook('preHandler', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.run(done);
  });
}
