/**
 * Live updates: streams of the events in a workspace as they happen. Each process has one connection that listens for
 * notifications, and one reader of the event log. Both start with the first stream.
 */
import { runInBackground } from '../core/call-bounds.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { ACCESS_CHANNEL, EVENTS_CHANNEL, SIGNALS_CHANNEL } from '../db/event-signal.ts';
import { type NotificationListener, startNotificationListener } from '../db/notification-listener.ts';
import { type EventFeed, startEventFeed } from './event-feed.ts';
import { type EventReader, readEventStream } from './event-stream.ts';
import { createInboxes } from './inboxes.ts';
import { createOpenStreams, type NewStream, type StreamLimits } from './open-streams.ts';
import { openStateStream, type StateReader } from './state-stream.ts';
import type { LiveStream } from './stream-message.ts';

export type LiveUpdates = {
  /** Opens a stream of the events of a workspace. Throws 429 or 503 if too many streams are open. */
  openEvents(reader: EventReader, stream: NewStream): LiveStream;
  /**
   * Opens a stream of states. Reads the states again when a notification names one of the topics, and the inbox of the
   * reader when a notification names its topic. Throws 429 or 503 if too many streams are open.
   */
  openStates(reader: StateReader, stream: Omit<NewStream, 'recheck'>): LiveStream;
  /** Ends all streams when the server shuts down. */
  endAll(): void;
  /** How many streams are open, and how many messages they have sent so far. */
  use(): { open: number; sent: number };
  /** Counts a message that was sent. */
  countSent(): void;
  stop(): Promise<void>;
};

export type LiveUpdatesOptions = {
  db: Pick<Database, 'sql'>;
  clock: Clock;
  log: Log;
  /** The connection string for LISTEN, which does not work through a pooler. */
  directUrl: string;
  limits: StreamLimits;
};

export const defaultStreamLimits: StreamLimits = { perOwner: 20, perProcess: 5_000, recheckMs: 30_000 };

export function createLiveUpdates({ db, clock, log, directUrl, limits }: LiveUpdatesOptions): LiveUpdates {
  const streams = createOpenStreams(limits, log);
  const inboxes = createInboxes();
  let started: { feed: EventFeed; listener: NotificationListener } | null = null;
  let sent = 0;

  /**
   * Starts the feed and the notification listener in the background, because they outlive the request that opens the
   * first stream.
   */
  const start = () =>
    runInBackground(() => {
      const feed = startEventFeed({ db, log });
      const listener = startNotificationListener({
        connectionString: directUrl,
        channels: {
          [EVENTS_CHANNEL]: (payload) => feed.wake(payload ? payload.split(',').map(Number) : null),
          [ACCESS_CHANNEL]: (payload) => streams.recheck(payload || null),
          [SIGNALS_CHANNEL]: (payload) => inboxes.wake(payload || null),
        },
        log,
      });
      return { feed, listener };
    });

  return {
    openEvents(reader, newStream) {
      const stream = streams.open(newStream);
      started ??= start();
      return { stream, messages: readEventStream({ db, clock, feed: started.feed }, reader, stream) };
    },
    openStates(reader, newStream) {
      const opened = openStateStream({ clock, streams, inboxes, log }, reader, newStream);
      started ??= start();
      return opened;
    },
    endAll: streams.endAll,
    use: () => ({ open: streams.count(), sent }),
    countSent() {
      sent += 1;
    },
    async stop() {
      streams.endAll();
      streams.stop();
      await Promise.all([started?.feed.stop(), started?.listener.stop()]);
    },
  };
}
