/**
 * One reader's stream of the events of a workspace: first events from the event log, and then new events as they are
 * numbered.
 */
import { runInBackground } from '../core/call-bounds.ts';
import { serviceUnavailable } from '../core/errors.ts';
import { createLimiter } from '../core/limiter.ts';
import type { Clock } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { toBody } from '../events/envelope.ts';
import { maySee, type Viewer } from '../events/visibility.ts';
import type { EventFeed } from './event-feed.ts';
import { findPosition, type LoggedEvent, MAX_EVENTS, readEvents } from './event-log.ts';
import type { OpenStream } from './open-streams.ts';
import { type StreamMessage, toMessage } from './stream-message.ts';
import { createStreamQueue } from './stream-queue.ts';

export type StreamSource = { db: Pick<Database, 'sql'>; clock: Clock; feed: EventFeed };

export type EventReader = {
  workspaceId: number;
  /** The sequence of the last event that the reader received; null for a new reader. */
  after: number | null;
  /** Returns the current rights of the reader. Called for each event. */
  viewer(): Viewer;
};

/** How many streams may read the log at a time, so that many reconnecting streams do not take all connections. */
const MAX_READS = 4;
/** Workspaces take turns. Each stream reads once at a time, so the number of streams bounds the queue. */
const reads = createLimiter<number>({
  max: MAX_READS,
  maxQueued: Number.POSITIVE_INFINITY,
  full: () => serviceUnavailable('Too many streams are open: try again later', 5),
});

/**
 * Yields the events that the reader may see, each once and in the order of their sequences. A new reader first receives
 * `stream.opened`. A reader whose last event is no longer in the log first receives `stream.reset`. In both cases,
 * earlier events are not sent. When the stream ends, throws the reason for its end.
 */
export async function* readEventStream(
  { db, clock, feed }: StreamSource,
  { workspaceId, after, viewer }: EventReader,
  stream: OpenStream,
): AsyncGenerator<StreamMessage, void> {
  const { signal } = stream;
  const read = <Result>(work: () => Promise<Result>): Promise<Result> =>
    runInBackground(() => reads.run(workspaceId, work));
  const start = await read(() => findPosition(db, { workspaceId, sequence: after ?? 0 }));
  const resumes = after === 0 || (after !== null && start.hasSequence);
  let sequence = resumes ? after : start.last;
  const queue = createStreamQueue(stream);
  const receive = (event: LoggedEvent): void => {
    if (event.sequence <= sequence) return;
    sequence = event.sequence;
    if (maySee(viewer(), event)) queue.add(toMessage(event));
  };
  // A new reader starts at the end of the log, where it can join the feed unless the feed has already read further.
  let leave = resumes ? null : feed.join({ workspaceId, sequence }, receive);
  try {
    if (!resumes) {
      const event = after === null ? 'stream.opened' : 'stream.reset';
      const body = toBody({ event, timestamp: clock.now(), data: { workspace_id: workspaceId } });
      yield { id: String(start.last), event, body };
    }
    while (leave === null) {
      signal.throwIfAborted();
      const page = await read(() => readEvents(db, [{ workspaceId, sequence }]));
      for (const event of page) {
        signal.throwIfAborted();
        sequence = event.sequence;
        if (maySee(viewer(), event)) yield toMessage(event);
      }
      if (page.length < MAX_EVENTS) leave = feed.join({ workspaceId, sequence }, receive);
    }
    for (;;) yield* await queue.take();
  } finally {
    leave?.();
  }
}
