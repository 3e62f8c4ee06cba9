/** Contacts as CSV, out and in: operations that are no procedures, because their bodies stream. */
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../auth/identify.ts';
import { AppError, badField } from '../core/errors.ts';
import { MINUTE_MS } from '../core/time.ts';
import { exportContacts } from '../features/contacts/export-contacts.ts';
import { importContacts } from '../features/contacts/import-contacts.ts';
import { createImportLimiter } from '../features/contacts/import-limiter.ts';
import type { ImportAnswer } from '../features/contacts/schemas.ts';
import type { Services } from '../services.ts';
import { attachmentDisposition } from '../storage/content-disposition.ts';
import { requireCaller, requireRole } from '../trpc/trpc.ts';
import { CONTACTS_EXPORT_PATH, CONTACTS_IMPORT_PATH } from './contacts-csv-document.ts';
import { createContext, identifyRequest } from './context.ts';
import { routeOf } from './fastify-path.ts';
import { createHandover } from './handover.ts';
import { workspaceIdOf } from './rest.ts';
import { defaultTimeouts, guardBody, leaveBodiesUnread, pipeBody, type StreamTimeouts } from './streaming-body.ts';

const MAX_CSV_BYTES = 10 * 1024 * 1024;

/** Who sends slowly keeps others from importing. */
const importTimeouts: StreamTimeouts = { ...defaultTimeouts, wholeMs: 5 * MINUTE_MS };

const CSV = /^text\/csv *(?:;|$)/i;

const actors = createHandover<Actor>();

/** A body being read. `stop` ends it: whoever reads on hears `reason`, unless another one came before. */
type CsvBody = { bytes: Readable; stop(reason: AppError): void };

/** Registers both. They need a plugin context of their own, because here a body of any type is left unread. */
export function serveContactsCsv(app: FastifyInstance, services: Services, timeouts = importTimeouts): void {
  leaveBodiesUnread(app, timeouts);
  const imports = createImportLimiter();

  /** Before the body is read, so that strangers cannot make us read one. */
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const workspaceId = workspaceIdOf(request);
    const identity = await identifyRequest(services, request, workspaceId);
    const caller = await requireCaller(createContext(services, request, reply), identity);
    if (workspaceId === null) throw badField('id', 'id must be a positive 32-bit integer');
    actors.give(request, requireRole(caller, identity, 'admin'));
  };

  app.route({
    method: 'GET',
    url: routeOf(CONTACTS_EXPORT_PATH),
    onRequest: admit,
    handler: (request, reply) =>
      reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', attachmentDisposition('contacts.csv'))
        .send(Readable.from(exportContacts(services, actors.take(request)))),
  });

  const receive = async (request: IncomingMessage, actor: Actor): Promise<ImportAnswer> => {
    const { bytes, stop } = readBody(request);
    const endWatch = guardBody(request, { ...timeouts, maxBytes: MAX_CSV_BYTES }, stop);
    try {
      return await importContacts(services, actor, bytes);
    } finally {
      endWatch();
      bytes.destroy();
    }
  };

  app.route({
    method: 'POST',
    url: routeOf(CONTACTS_IMPORT_PATH),
    async onRequest(request, reply) {
      await admit(request, reply);
      const { 'content-type': type = '', 'content-length': length } = request.headers;
      if (!CSV.test(type)) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content type must be text/csv');
      if (Number(length) > MAX_CSV_BYTES) throw tooLarge();
    },
    handler(request) {
      const actor = actors.take(request);
      return imports.run(actor.workspaceId, () => receive(request.raw, actor));
    },
  });
}

/** Apart from the request itself, which must stay open for the answer when nobody reads on. */
function readBody(request: IncomingMessage): CsvBody {
  const bytes = new PassThrough();
  let total = 0;
  const stop = (reason: AppError): void => {
    request.unpipe(bytes);
    bytes.destroy(reason);
  };
  const count = (chunk: Buffer): void => {
    total += chunk.length;
    if (total > MAX_CSV_BYTES) stop(tooLarge());
  };
  // It may be destroyed when nobody reads it any more; an error after that concerns nobody.
  bytes.on('error', () => {});
  request.on('data', count);
  pipeBody(request, bytes, stop);
  return { bytes, stop };
}

function tooLarge(): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'File is larger than 10 MiB');
}
