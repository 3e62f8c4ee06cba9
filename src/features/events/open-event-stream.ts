import type { EventReader } from '../../live-updates/event-stream.ts';
import type { NewStream } from '../../live-updates/open-streams.ts';
import type { LiveStream } from '../../live-updates/stream-message.ts';
import type { Services } from '../../services.ts';

/**
 * Opens a stream of the events of a workspace. It begins after the event `after`, or with the next event if `after` is
 * null. Throws 429 if the reader has too many streams open, and 503 if the process has.
 */
export function openEventStream(
  { live }: Pick<Services, 'live'>,
  { workspaceId, viewer, ...stream }: Omit<EventReader, 'after'> & NewStream,
  after: number | null,
): LiveStream {
  return live.openEvents({ workspaceId, viewer, after }, stream);
}
