/** One reader's stream of states: first the current states, and then each new state. */
import { runInBackground } from '../core/call-bounds.ts';
import { serviceUnavailable } from '../core/errors.ts';
import { createLimiter } from '../core/limiter.ts';
import type { Log } from '../core/log.ts';
import { type Clock, SECOND_MS } from '../core/time.ts';
import { toBody } from '../events/envelope.ts';
import type { Inboxes } from './inboxes.ts';
import type { NewStream, OpenStream, OpenStreams } from './open-streams.ts';
import type { LiveStream, StreamMessage } from './stream-message.ts';
import { createStreamQueue } from './stream-queue.ts';

export type State = {
  /** What the state is about, if the reader has several states. */
  about?: string;
  event: string;
  data: object;
  /** Whether this state is final. The stream then ends. */
  isFinal: boolean;
};

/** Messages that are stored for a reader. */
export type Inbox = {
  /** A notification about this topic means that a message was stored. */
  topic: string;
  /** Reads the next messages. They are sent before the next ones are read. */
  read(): Promise<InboxBatch>;
};

export type InboxBatch = {
  messages: { event: string; data: object }[];
  /** Whether there may be more messages. */
  isFull: boolean;
  /** Whether the states must be read and sent before these messages. */
  needsStates: boolean;
  /** Called after the reader has got the messages. */
  onSent?: () => Promise<void>;
};

export type StateReader = {
  /** Returns the current states. Each is sent if it differs from the last one about the same. */
  read(): Promise<State[]>;
  inbox?: Inbox;
  /** Called when the stream has been opened, and may register what ends with it. */
  onOpen?: (stream: OpenStream) => void;
};

/** How long the reader waits after the inbox could not be read. */
const RETRY_MS = SECOND_MS;
/** How many inboxes are read at a time. Each read needs a connection for one statement. */
const MAX_READS = 4;
/** The groups of streams take turns. Each stream reads once at a time, so the number of streams bounds the queue. */
const reads = createLimiter<string>({
  max: MAX_READS,
  maxQueued: Number.POSITIVE_INFINITY,
  full: () => serviceUnavailable('Too many streams are open: try again later', 5),
});

export function openStateStream(
  { clock, streams, inboxes, log }: { clock: Clock; streams: OpenStreams; inboxes: Inboxes; log: Log },
  { read, inbox, onOpen }: StateReader,
  newStream: Omit<NewStream, 'recheck'>,
): LiveStream {
  const last = new Map<string, string>();
  let finalMessage: StreamMessage | null = null;
  let isOver = false;
  let reading = Promise.resolve();
  let hasMail = inbox !== undefined;

  /** Reads the states again. Reads run one after another, so that an older state never follows a newer state. */
  const refresh = (): Promise<void> => {
    const next = reading.then(async () => {
      for (const state of await runInBackground(read)) addState(state);
    });
    reading = next.catch(() => {});
    return next;
  };

  const addState = ({ about = '', event, data, isFinal }: State): void => {
    const state = JSON.stringify([event, data]);
    if (state === last.get(about) || finalMessage !== null) return;
    last.set(about, state);
    const message = toStreamMessage(event, data);
    if (isFinal) finalMessage = message;
    queue.add(message);
  };

  const toStreamMessage = (event: string, data: object): StreamMessage => ({
    id: null,
    event,
    body: toBody({ event, timestamp: clock.now(), data }),
  });

  const wake = (): void => {
    hasMail = true;
    queue.wake();
  };

  const stream = streams.open({ ...newStream, recheck: refresh });
  const queue = createStreamQueue(stream);
  if (inbox) {
    const stopListening = inboxes.listen(inbox.topic, wake);
    stream.signal.addEventListener('abort', stopListening, { once: true });
  }
  onOpen?.(stream);

  async function* readMessages(): AsyncGenerator<StreamMessage, void> {
    await refresh();
    while (!isOver) {
      if (inbox && hasMail) yield* readInbox(inbox);
      else yield* sendQueued();
    }
  }

  async function* sendQueued(): AsyncGenerator<StreamMessage, void> {
    for (const message of await queue.take()) {
      yield message;
      isOver = message === finalMessage;
    }
  }

  /** Yields the next messages, which are never in the queue: a slow reader leaves them in the database. */
  async function* readInbox({ read }: Inbox): AsyncGenerator<StreamMessage, void> {
    hasMail = false;
    const batch = await runInBackground(() => reads.run(newStream.group, read)).catch((error: unknown) => {
      log.warn({ err: error }, 'Failed to read the messages for a stream');
      setTimeout(wake, RETRY_MS).unref();
      return null;
    });
    if (batch?.needsStates) await refresh();
    queue.wake();
    yield* sendQueued();
    if (batch === null || isOver) return;
    for (const { event, data } of batch.messages) yield toStreamMessage(event, data);
    await batch.onSent?.();
    if (batch.isFull) wake();
  }

  return { stream, messages: readMessages() };
}
