/** POST /api/workspaces/:id/library: the one operation that is not a procedure, because its body streams. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor } from '../auth/identify.ts';
import { badField } from '../core/errors.ts';
import { uploadItem } from '../routers/library/upload.ts';
import type { Services } from '../services.ts';
import { requireCaller, requireRole } from '../trpc.ts';
import { createContext, identifyRequest } from './context.ts';
import { readMultipart } from './multipart.ts';
import { workspaceIdOf } from './rest.ts';
import { answerWhileSending, defaultPatience, guardBody } from './upload-guard.ts';

const MULTIPART = /^multipart\/form-data *;/i;

const actors = new WeakMap<FastifyRequest, Actor>();

/** Registers the upload. Its own plugin context, because here a body of any type is left unread. */
export const serveUpload = (app: FastifyInstance, services: Services, patience = defaultPatience): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onSend', async ({ raw }, reply, payload) => {
    // What a refusal left unread would block the next request of the connection.
    raw.resume();
    if (raw.complete || typeof payload !== 'string') return payload;
    reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(payload) });
    return Readable.from(answerWhileSending(payload, raw, patience));
  });
  app.route({
    method: 'POST',
    url: '/api/workspaces/:id/library',
    // Before the body is read, so that strangers cannot make us read one.
    async onRequest(request, reply) {
      const workspaceId = workspaceIdOf(request);
      const identity = await identifyRequest(services, request, workspaceId);
      const caller = await requireCaller(createContext(services, request, reply), identity);
      if (workspaceId === null) throw badField('id', 'id must be a positive 32-bit integer');
      actors.set(request, requireRole(caller, identity, 'member'));
      // Fastify itself would answer 415 to a type that is none.
      if (!MULTIPART.test(request.headers['content-type'] ?? '')) throw badField('file', 'File is required');
    },
    async handler(request) {
      const actor = actors.get(request);
      if (!actor) throw new Error('An upload without an actor');
      const upload = readMultipart(request.raw);
      const endWatch = guardBody(request.raw, patience, upload.stop);
      try {
        return { item: await uploadItem(services, actor, upload) };
      } catch (error) {
        // What ended the body explains more than what came of it.
        const reason = upload.signal.aborted ? upload.signal.reason : error;
        upload.stop(reason);
        throw reason;
      } finally {
        endWatch();
      }
    },
  });
};
