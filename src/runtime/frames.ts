/** Reads which origins may show the documents that are made for frames, and what these connect to. */

import type { Subject } from '../auth/rate-limits.ts';
import type { ReadFrameAccess } from '../console/serve-console.ts';
import { type FrameKind, readFrameAccess } from '../features/embedding/read-frame-origins.ts';
import type { Services } from '../services.ts';
import { toSubject } from '../trpc/access.ts';
import { readForPage } from './read-for-page.ts';

/** What the last part of the path of a document names. The tokens of the last two say what they show. */
const subjects: Readonly<Record<FrameKind, (name: string) => Subject>> = {
  room: (name) => toSubject('roomName', name),
  book: (name) => toSubject('slug', name),
  library: toWorkspace,
  webhooks: toWorkspace,
};

function toWorkspace(id: string): Subject {
  return { name: `workspace:${id}`, isSecret: false };
}

/** Returns the readers by their routes. Nobody may show a document about which nothing is known. */
export function createFrames(services: Services): Readonly<Record<string, ReadFrameAccess>> {
  const readerOf =
    (kind: FrameKind): ReadFrameAccess =>
    async (request, reply) => {
      // `as`: the route has one parameter, with this name.
      const { name } = request.params as { name: string };
      const { value } = await readForPage(services, request, reply, {
        name: 'frames.read',
        subject: subjects[kind](name),
        read: () => readFrameAccess(services, kind, name),
        neutral: { origins: [], mediaOrigin: null },
      });
      return value;
    };
  // `as`: the keys of an object are plain strings.
  const kinds = Object.keys(subjects) as FrameKind[];
  return Object.fromEntries(kinds.map((kind) => [`/embed/${kind}/:name`, readerOf(kind)]));
}
