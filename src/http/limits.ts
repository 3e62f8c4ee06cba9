/** Time limits on what a client may take to send. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { sendError } from './errors.ts';
import { UPLOAD_PATH } from './upload-document.ts';

/** How long a JSON body may take to arrive; the upload has a rule of its own. */
const BODY_MS = 30_000;

const uploadUrl = UPLOAD_PATH.replace('{id}', ':id');

/** How long a client may go on sending a body whose answer it has. */
const LINGER_MS = 10_000;

/** Cuts the connection of a client that holds it with a body that was refused without being read. */
const cutLingering = ({ raw }: FastifyRequest): void => {
  if (raw.complete || raw.destroyed) return;
  const timer = setTimeout(() => raw.destroy(), LINGER_MS);
  raw.once('close', () => clearTimeout(timer));
  raw.once('end', () => clearTimeout(timer));
};

/** Answers 408 to a body that drips in, and then cuts the connection. */
export const limitSlowBodies = (app: FastifyInstance): void => {
  app.addHook('onResponse', (request, _reply, done) => {
    cutLingering(request);
    done();
  });
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { method, raw, routeOptions } = request;
    const isUpload = routeOptions.url === uploadUrl && method === 'POST';
    if (method === 'GET' || method === 'HEAD' || raw.complete || isUpload) return done();
    const timer = setTimeout(() => {
      if (reply.sent) return;
      sendError(new AppError('REQUEST_TIMEOUT', 'The request body is too slow'), request, reply);
      reply.raw.once('finish', () => raw.destroy());
    }, BODY_MS);
    raw.once('end', () => clearTimeout(timer));
    raw.once('close', () => clearTimeout(timer));
    done();
  });
};
