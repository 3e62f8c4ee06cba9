/** JSON bodies of the REST paths. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { AppError, badField } from '../core/errors.ts';

/**
 * Takes the place of a body that could not be parsed. Only callers who are allowed to make the call receive its error.
 */
export class UnreadableBody {
  readonly error: AppError;

  constructor(cause: unknown) {
    this.error = badField('', 'Request body must be valid JSON', cause);
  }
}

/**
 * Replaces Fastify's JSON parser. An empty body counts as absent. A malformed body becomes an UnreadableBody, so that
 * access is checked first. A body that is not UTF-8, or in which an object has the key `__proto__` or
 * `constructor.prototype`, is malformed too.
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

/** Responds with 415 to a body that is not JSON. A request without a body may have any content type. */
export function refuseOtherBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request;
    // Fastify rejects an unknown type before it checks whether there is a body.
    const isEmpty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
    if (isEmpty) delete headers['content-type'];
    done();
  });
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    // Only the end of a chunked body shows whether it is empty.
    if (body.length === 0) return done(null, undefined);
    done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'), undefined);
  });
}
