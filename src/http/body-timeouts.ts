/** Time limits on what a client may take to send. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { CONTACTS_IMPORT_PATH } from './contacts-csv-document.ts';
import { sendError } from './errors.ts';
import { routeOf } from './fastify-path.ts';
import { LIBRARY_UPLOAD_PATH, RECORDING_UPLOAD_PATH } from './upload-document.ts';

const uploadUrls: readonly (string | undefined)[] = [
  LIBRARY_UPLOAD_PATH,
  RECORDING_UPLOAD_PATH,
  CONTACTS_IMPORT_PATH,
].map(routeOf);

/** Milliseconds. */
export type BodyTimeouts = {
  /** How long a JSON body may take to arrive; the uploads have a rule of their own. */
  bodyMs: number;
  /** How long a client may go on sending a body whose answer it has. */
  lingerMs: number;
};

const defaultTimeouts: BodyTimeouts = { bodyMs: 30_000, lingerMs: 10_000 };

/** Answers 408 to a body that drips in, and then cuts the connection, as it does when a refused body goes on. */
export function limitSlowBodies(app: FastifyInstance, timeouts = defaultTimeouts): void {
  app.addHook('onResponse', (request, _reply, done) => {
    cutLingering(request, timeouts.lingerMs);
    done();
  });
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { method, raw, routeOptions } = request;
    const isUpload = uploadUrls.includes(routeOptions.url) && method === 'POST';
    if (method === 'GET' || method === 'HEAD' || raw.complete || isUpload) return done();
    const timer = setTimeout(() => {
      if (reply.sent) return;
      sendError(new AppError('REQUEST_TIMEOUT', 'The request body is too slow'), request, reply);
      reply.raw.once('finish', () => raw.destroy());
    }, timeouts.bodyMs);
    raw.once('end', () => clearTimeout(timer));
    raw.once('close', () => clearTimeout(timer));
    done();
  });
}

/** Cuts the connection of a client that holds it with a body that was refused without being read. */
function cutLingering({ raw }: FastifyRequest, lingerMs: number): void {
  if (raw.complete || raw.destroyed) return;
  const timer = setTimeout(() => raw.destroy(), lingerMs);
  raw.once('close', () => clearTimeout(timer));
  raw.once('end', () => clearTimeout(timer));
}
