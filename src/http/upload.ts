/** POST /api/workspaces/:id/library: the one operation that is not a procedure, because its body streams. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor } from '../auth/identify.ts';
import { AppError } from '../core/errors.ts';
import { id, parseInput } from '../core/validation.ts';
import { MOST_BYTES, uploadItem } from '../routers/library/upload.ts';
import type { Services } from '../services.ts';
import { requireCaller, requireRole } from '../trpc.ts';
import { createContext, identifyRequest } from './context.ts';
import { readMultipart } from './multipart.ts';
import { workspaceIdOf } from './rest.ts';

/** A body may be larger than its file by its other parts. */
const MOST_BODY_BYTES = MOST_BYTES + 8 * 1024 * 1024;
/** Slower than this for a whole period, while we were ready to read, is no upload but an attack: 1 kB/s. */
const PERIOD_MS = 15_000;
const LEAST_BYTES_PER_PERIOD = 15_000;
/** How long a refused body is still read, so that the client hears the answer instead of a reset. */
const DRAIN_MS = 10_000;

const actors = new WeakMap<FastifyRequest, Actor>();

/** Aborts `controller` when the body is too large, or arrives too slowly while nothing but the client holds it up. */
const guardBody = (request: IncomingMessage, controller: AbortController): (() => void) => {
  let total = 0;
  let inPeriod = 0;
  let wasPaused = false;
  const count = (chunk: Buffer): void => {
    total += chunk.length;
    inPeriod += chunk.length;
    if (total > MOST_BODY_BYTES) controller.abort(new AppError('PAYLOAD_TOO_LARGE', 'Request body is too large'));
  };
  const pause = (): void => {
    wasPaused = true;
  };
  const timer = setInterval(() => {
    const isSlow = inPeriod < LEAST_BYTES_PER_PERIOD && !wasPaused && !request.complete;
    if (isSlow) controller.abort(new AppError('REQUEST_TIMEOUT', 'The upload is too slow'));
    inPeriod = 0;
    wasPaused = request.isPaused();
  }, PERIOD_MS);
  request.on('data', count);
  request.on('pause', pause);
  return () => {
    clearInterval(timer);
    request.off('data', count);
    request.off('pause', pause);
  };
};

/** Reads over the rest of a refused body for a while, then cuts the connection. */
const drain = (request: IncomingMessage): void => {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), DRAIN_MS);
  let left = MOST_BODY_BYTES;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.on('close', () => clearTimeout(timer));
  request.resume();
};

/** Registers the upload. Its own plugin context, because here a body of any type is left unread. */
export const serveUpload = (app: FastifyInstance, services: Services): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.route({
    method: 'POST',
    url: '/api/workspaces/:id/library',
    bodyLimit: MOST_BODY_BYTES,
    async onRequest(request, reply) {
      const context = createContext(services, request, reply);
      const identity = await identifyRequest(services, request, workspaceIdOf(request));
      const caller = await requireCaller(context, identity);
      parseInput(id, workspaceIdOf(request) ?? undefined);
      actors.set(request, requireRole(caller, identity, 'member'));
    },
    async handler(request) {
      const actor = actors.get(request);
      if (!actor) throw new Error('An upload without an actor');
      const controller = new AbortController();
      const upload = readMultipart(request.raw);
      const release = guardBody(request.raw, controller);
      controller.signal.addEventListener('abort', () => upload.stop(controller.signal.reason));
      try {
        return { item: await uploadItem(services, actor, upload, controller.signal) };
      } catch (error) {
        upload.stop(error);
        drain(request.raw);
        throw controller.signal.aborted ? controller.signal.reason : error;
      } finally {
        release();
      }
    },
  });
};
