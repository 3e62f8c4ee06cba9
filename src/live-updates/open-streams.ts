/**
 * The open streams of this process. Limits their number. Checks the rights of each reader again when these rights
 * change, and at intervals.
 */
import { AppError, serviceUnavailable } from '../core/errors.ts';
import { createLimiter } from '../core/limiter.ts';
import type { Log } from '../core/log.ts';
import { HOUR_MS, SECOND_MS } from '../core/time.ts';
import { createStreamSlots, type SlotLimits, type StreamReader } from './stream-slots.ts';

export type StreamLimits = SlotLimits & {
  /** The maximum time between two checks of the rights of a reader. */
  recheckMs: number;
};

export type NewStream = StreamReader & {
  /**
   * What the stream is about, such as `room:7`. The groups take turns when readers are checked, so that a room in which
   * much happens does not delay the others.
   */
  group: string;
  /** A notification about one of these topics means that the rights of the reader may have changed. */
  topics: readonly string[];
  /** Checks the rights again. Throws an `AppError` if the reader is no longer allowed to read. */
  recheck(): Promise<void>;
  /** Aborts when the reader hangs up. */
  hungUp: AbortSignal;
};

export type OpenStream = {
  /**
   * Aborts when the stream ends. The reason is `STREAM_OVER` if the reader may reconnect immediately, and otherwise an
   * `AppError`.
   */
  signal: AbortSignal;
  end(reason: StreamEnd): void;
  /** Ends the stream, and removes it from the count. */
  close(): void;
};

/**
 * The reason for the end if the server shuts down, the stream has been open for too long, or the reader has hung up.
 */
export const STREAM_OVER = Symbol('stream over');

export type StreamEnd = typeof STREAM_OVER | AppError;

export type OpenStreams = {
  /**
   * Throws 429 if the owner or the network has too many streams, and 503 if the process, the room or all guests
   * together have too many.
   */
  open(stream: NewStream): OpenStream;
  /** Checks the rights of the readers with this topic again; null means all readers. */
  recheck(topic: string | null): void;
  /** Ends all open streams, and every stream that is opened later. */
  endAll(): void;
  count(): number;
  stop(): void;
};

type Entry = NewStream & {
  controller: AbortController;
  openedAt: number;
  checkedAt: number;
  isChecking: boolean;
  /** Whether the rights have changed since the current check began. */
  isStale: boolean;
};

const TICK_MS = 1_000;
/** How many readers are checked at a time. Each check needs a connection for one statement. */
const MAX_CHECKS = 4;
/** A stream ends if the rights of its reader cannot be checked for this long. */
const MAX_UNCHECKED_MS = 60 * SECOND_MS;
/** After this time, a stream ends and its reader reconnects, so that new processes also get readers. */
const MAX_OPEN_MS = HOUR_MS;

export function createOpenStreams(limits: StreamLimits, log: Log): OpenStreams {
  const streams = new Set<Entry>();
  const byTopic = new Map<string, Set<Entry>>();
  const slots = createStreamSlots(limits);
  // Each stream waits at most once, so the number of streams bounds the queue.
  const checks = createLimiter<string>({ max: MAX_CHECKS, maxQueued: Number.POSITIVE_INFINITY, full: unchecked });
  let isEnding = false;

  const check = async (entry: Entry): Promise<void> => {
    if (entry.isChecking) {
      entry.isStale = true;
      return;
    }
    entry.isChecking = true;
    do {
      entry.isStale = false;
      const startedAt = performance.now();
      try {
        await checks.run(entry.group, async () => entry.controller.signal.aborted || entry.recheck());
        entry.checkedAt = startedAt;
      } catch (error) {
        if (error instanceof AppError) entry.controller.abort(error);
        else if (performance.now() - entry.checkedAt > MAX_UNCHECKED_MS) entry.controller.abort(unchecked());
        else log.warn({ err: error }, 'Failed to check the rights of a stream reader');
      }
    } while (entry.isStale && !entry.controller.signal.aborted);
    entry.isChecking = false;
  };

  const tick = (): void => {
    const now = performance.now();
    for (const entry of streams) {
      if (now - entry.openedAt >= MAX_OPEN_MS) entry.controller.abort(STREAM_OVER);
      else if (!entry.isChecking && now - entry.checkedAt >= limits.recheckMs - TICK_MS) void check(entry);
    }
  };
  const timer = setInterval(tick, Math.min(TICK_MS, limits.recheckMs)).unref();

  return {
    open(stream) {
      const { topics, hungUp } = stream;
      if (isEnding) throw serviceUnavailable('The service is shutting down: connect again', 1);
      const release = slots.take(stream);
      const controller = new AbortController();
      const now = performance.now();
      const entry = { ...stream, controller, openedAt: now, checkedAt: now, isChecking: false, isStale: false };
      const hangUp = (): void => controller.abort(STREAM_OVER);
      hungUp.addEventListener('abort', hangUp, { once: true });
      if (hungUp.aborted) hangUp();
      streams.add(entry);
      for (const topic of topics) addTo(byTopic, topic, entry);
      return {
        signal: controller.signal,
        end: (reason) => controller.abort(reason),
        close() {
          if (!streams.delete(entry)) return;
          hungUp.removeEventListener('abort', hangUp);
          controller.abort(STREAM_OVER);
          for (const topic of topics) removeFrom(byTopic, topic, entry);
          release();
        },
      };
    },
    recheck(topic) {
      for (const entry of topic === null ? streams : (byTopic.get(topic) ?? [])) void check(entry);
    },
    endAll() {
      isEnding = true;
      for (const { controller } of streams) controller.abort(STREAM_OVER);
    },
    count: () => streams.size,
    stop: () => clearInterval(timer),
  };
}

function unchecked(): AppError {
  return serviceUnavailable('The service is busy: try again in a moment', 2);
}

function addTo<Key, Value>(map: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const values = map.get(key) ?? new Set();
  map.set(key, values.add(value));
}

function removeFrom<Key, Value>(map: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const values = map.get(key);
  values?.delete(value);
  if (values?.size === 0) map.delete(key);
}
