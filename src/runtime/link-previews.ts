/** Reads the titles and descriptions of pages to which people share links. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PagePreview, ReadPreview } from '../console/serve-console.ts';
import { AppError } from '../core/errors.ts';
import { inTime } from '../core/in-time.ts';
import { SECOND_MS } from '../core/time.ts';
import { type LinkKind, neutralPreviews, readLinkPreview } from '../features/link-previews/read-link-preview.ts';
import { createContext } from '../http/context.ts';
import { runBounded } from '../http/request-bounds.ts';
import type { Services } from '../services.ts';
import { callPublicly, type SubjectField, toSubject } from '../trpc/access.ts';

/** The page works without its preview, so it waits no longer for the database. */
const MAX_WAIT_MS = SECOND_MS;

const fields: Readonly<Record<LinkKind, SubjectField>> = { room: 'roomName', book: 'slug', join: 'token' };

/** Returns the readers by their routes. */
export function createLinkPreviews(services: Services): Readonly<Record<string, ReadPreview>> {
  const read = async (kind: LinkKind, request: FastifyRequest, reply: FastifyReply): Promise<PagePreview> => {
    const field = fields[kind];
    // `as`: the route has one parameter, with this name.
    const { [field]: name = '' } = request.params as Partial<Record<SubjectField, string>>;
    const neutral = neutralPreviews[kind];
    const context = createContext(services, request, reply);
    const reading = runBounded(request, reply, { name: 'link-previews.read', method: 'GET' }, async () =>
      callPublicly(context, toSubject(field, name), () => readLinkPreview(services, kind, name)),
    ).catch((error: unknown) => {
      // Nothing is known about the link, or the network has asked for too many.
      if (!(error instanceof AppError)) services.log.warn({ err: error }, 'Failed to read the preview of a link');
      return neutral;
    });
    return { ...(await inTime(reading, MAX_WAIT_MS, neutral)), origin: context.origin };
  };
  return {
    '/room/:roomName': (request, reply) => read('room', request, reply),
    '/book/:slug': (request, reply) => read('book', request, reply),
    '/join/:token': (request, reply) => read('join', request, reply),
  };
}
