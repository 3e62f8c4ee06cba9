/** A door for uploads: the operations that are no procedures, because their bodies stream. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { badField } from '../core/errors.ts';
import type { IncomingUpload } from '../media/receive-file.ts';
import { createHandover } from './handover.ts';
import { readMultipart } from './multipart.ts';
import { guardBody, type StreamTimeouts } from './streaming-body.ts';

const MULTIPART = /^multipart\/form-data *;/i;

/** One upload, by what it does in its own way. */
export type Upload<Uploader> = {
  /** As Fastify writes it. */
  url: string;
  /** The largest file, in bytes. */
  maxBytes: number;
  /** Who uploads, and to what; throws for who may not. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<Uploader>;
  /** Stores what comes, and answers the body of the answer. */
  receive(uploader: Uploader, upload: IncomingUpload): Promise<object>;
};

/** Registers one upload in a context that is ready. */
export function addUpload<Uploader>(
  app: FastifyInstance,
  { url, maxBytes, admit, receive }: Upload<Uploader>,
  timeouts: StreamTimeouts,
): void {
  const admitted = createHandover<Uploader>();
  app.route({
    method: 'POST',
    url,
    // Before the body is read, so that strangers cannot make us read one.
    async onRequest(request, reply) {
      admitted.give(request, await admit(request, reply));
      // Fastify itself would answer 415 to a type that is none.
      if (!MULTIPART.test(request.headers['content-type'] ?? '')) throw badField('file', 'File is required');
    },
    async handler(request) {
      const uploader = admitted.take(request);
      const upload = readMultipart(request.raw);
      const endWatch = guardBody(request.raw, { ...timeouts, maxBytes }, upload.stop);
      try {
        return await receive(uploader, upload);
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
}
