/** JSON bodies of the REST paths. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../core/errors.ts';

/** Stands where the body would: why it could not be read is said only to who is allowed here. */
export class UnreadableBody {
  readonly error: AppError;

  constructor(cause: unknown) {
    this.error = new AppError('BAD_REQUEST', 'Request body must be valid JSON', {
      issues: [{ path: '', message: 'Request body must be valid JSON' }],
      cause,
    });
  }
}

/**
 * Replaces Fastify's JSON parser: an empty body is an absent one, and a malformed one (also for bytes that are no
 * UTF-8) is handed on as a value, so that permission is checked before it is complained about. `__proto__` and
 * `constructor.prototype` are malformed.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    if (!isUtf8(body)) return done(null, new UnreadableBody(new Error('The body is not UTF-8')));
    parse(request, body.toString(), (error, value) => done(null, error ? new UnreadableBody(error) : value));
  });
}

/** Lets a request without any bytes pass whatever its content type says; what has a body must be JSON: 415. */
export function refuseOtherBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request;
    // Fastify refuses a type that it does not know before it looks whether there is a body of it.
    const isEmpty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
    if (isEmpty) delete headers['content-type'];
    done();
  });
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    // Only a chunked body shows by its end that it is empty.
    if (body.length === 0) return done(null, undefined);
    done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'), undefined);
  });
}
