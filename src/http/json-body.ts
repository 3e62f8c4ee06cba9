/** JSON bodies of the REST paths. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { AppError, badField } from '../core/errors.ts';
import { findUnboundedJson } from '../core/json-bounds.ts';
import { bodyLimitOf, hasBody } from './body-admission.ts';

/**
 * Takes the place of a body that could not be parsed. Only callers who are allowed to make the call receive its error.
 */
export class UnreadableBody {
  readonly error: AppError;

  constructor(error: AppError) {
    this.error = error;
  }
}

/**
 * Replaces Fastify's JSON parser. An empty body counts as absent. A malformed body becomes an UnreadableBody, so that
 * access is checked first. A body that is not UTF-8, or in which an object has the key `__proto__` or
 * `constructor.prototype`, is malformed too. The body of a DELETE is ignored.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0 || request.method === 'DELETE') return done(null, undefined);
    const refusal = findRefusal(body, bodyLimitOf(request));
    if (refusal !== null) return done(null, new UnreadableBody(refusal));
    parse(request, body.toString(), (error, value) => done(null, error ? new UnreadableBody(notJson(error)) : value));
  });
}

/** Returns the error of a body that must not be parsed, or null. */
function findRefusal(body: Buffer, maxBytes: number): AppError | null {
  if (!isUtf8(body)) return notJson(new Error('The body is not UTF-8'));
  return findUnboundedJson(body, maxBytes);
}

function notJson(cause: unknown): AppError {
  return badField('', 'Request body must be valid JSON', cause);
}

/** Responds with 415 to a body that is not JSON. A request without a body may have any content type. */
export function refuseOtherBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', (request, _reply, done) => {
    // Fastify rejects an unknown type before it checks whether there is a body.
    if (!hasBody(request)) delete request.headers['content-type'];
    done();
  });
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    // Only the end of a chunked body shows whether it is empty.
    if (body.length === 0) return done(null, undefined);
    done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'), undefined);
  });
}
