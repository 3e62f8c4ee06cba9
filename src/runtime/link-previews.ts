/** Reads the titles and descriptions of pages to which people share links. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PagePreview, ReadPreview } from '../console/serve-console.ts';
import { type LinkKind, neutralPreviews, readLinkPreview } from '../features/link-previews/read-link-preview.ts';
import type { Services } from '../services.ts';
import { type SubjectField, toSubject } from '../trpc/access.ts';
import { readForPage } from './read-for-page.ts';

const fields: Readonly<Record<LinkKind, SubjectField>> = { room: 'roomName', book: 'slug', join: 'token' };

/** Returns the readers by their routes. */
export function createLinkPreviews(services: Services): Readonly<Record<string, ReadPreview>> {
  const read = async (kind: LinkKind, request: FastifyRequest, reply: FastifyReply): Promise<PagePreview> => {
    const field = fields[kind];
    // `as`: the route has one parameter, with this name.
    const { [field]: name = '' } = request.params as Partial<Record<SubjectField, string>>;
    const { value, origin } = await readForPage(services, request, reply, {
      name: 'link-previews.read',
      subject: toSubject(field, name),
      read: () => readLinkPreview(services, kind, name),
      neutral: { ...neutralPreviews[kind], mediaOrigin: null },
    });
    return { ...value, origin };
  };
  return {
    '/room/:roomName': (request, reply) => read('room', request, reply),
    '/book/:slug': (request, reply) => read('book', request, reply),
    '/join/:token': (request, reply) => read('join', request, reply),
  };
}
