import type { EventReader } from '../../live-updates/event-stream.ts';
import type { NewStream } from '../../live-updates/open-streams.ts';
import type { LiveStream } from '../../live-updates/stream-message.ts';
import type { Services } from '../../services.ts';

/**
 * Opens an event stream of a workspace. The stream begins after the event `after`, or with the next event if `after` is
 * null. Throws 429 if the reader has too many open streams, and 503 if the process has too many.
 */
export function openEventStream(
  { live }: Pick<Services, 'live'>,
  { workspaceId, viewer, ...stream }: Omit<EventReader, 'after'> & NewStream,
  after: number | null,
): LiveStream {
  return live.openEvents({ workspaceId, viewer, after }, stream);
}
