/** JSON bodies of the REST paths. */
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
 * Replaces Fastify's JSON parser: an empty body is an absent one, and a malformed one is handed on as a value, so that
 * permission is checked before it is complained about. `__proto__` and `constructor.prototype` are malformed.
 */
export const parseJsonBodies = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    parse(request, body, (error, value) => done(null, error ? new UnreadableBody(error) : value));
  });
};

/** Lets a request without any bytes pass whatever its content type says; what has a body must be JSON: 415. */
export const refuseOtherBodies = (app: FastifyInstance): void => {
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('*', (request, _payload, done) => {
    const isEmpty = request.headers['content-length'] === '0';
    if (isEmpty) return done(null, undefined);
    done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'), undefined);
  });
};
