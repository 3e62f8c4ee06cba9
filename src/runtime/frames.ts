/** Reads which origins may show the documents that are made for frames. */
import type { ReadFrameOrigins } from '../console/serve-console.ts';
import { type FrameKind, readFrameOrigins } from '../features/embedding/read-frame-origins.ts';
import type { Services } from '../services.ts';
import { toSubject } from '../trpc/access.ts';
import { readForPage } from './read-for-page.ts';

const kinds: readonly FrameKind[] = ['room', 'book'];

/** Returns the readers by their routes. Nobody may show a document about which nothing is known. */
export function createFrames(services: Services): Readonly<Record<string, ReadFrameOrigins>> {
  const readerOf =
    (kind: FrameKind): ReadFrameOrigins =>
    async (request, reply) => {
      // `as`: the route has one parameter, with this name.
      const { name } = request.params as { name: string };
      const { value } = await readForPage(services, request, reply, {
        name: 'frames.read',
        subject: toSubject(kind === 'room' ? 'roomName' : 'slug', name),
        read: () => readFrameOrigins(services, kind, name),
        neutral: [],
      });
      return value;
    };
  return Object.fromEntries(kinds.map((kind) => [`/embed/${kind}/:name`, readerOf(kind)]));
}
