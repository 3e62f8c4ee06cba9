/** Records finished attempts in batches, and retries until each of them is recorded. */
import type { Log } from '../core/log.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import type { Attempt } from './send-message.ts';

export type AttemptRecorder = {
  /** Queues a finished attempt. */
  add(attempt: Attempt): void;
  /** Resolves when the batch in progress, if any, has been recorded or has failed. The rest of the queue is dropped. */
  stop(): Promise<void>;
};

export type AttemptRecorderOptions = {
  /**
   * Records attempts, at most one per message. `mayBeRecorded` is true if an earlier call with some of them failed,
   * perhaps after its commit. Resolves with those that cannot be recorded yet.
   */
  record: (attempts: readonly Attempt[], mayBeRecorded: boolean) => Promise<readonly Attempt[]>;
  onRecorded: (attempts: readonly Attempt[]) => void;
  log: Log;
};

const MAX_BATCH = 200;
/** `add` wakes the loop, so this matters only if a wake-up is lost. */
const POLL_EVERY_MS = 500;
/** After this time, attempts that could not be recorded return to the queue. */
const RETRY_POSTPONED_MS = 500;

/**
 * Starts the recorder. It retries a failed batch until it succeeds, because every request that was sent must be
 * recorded. After each failure the batches get smaller, so that one attempt that cannot be recorded does not block the
 * others. Attempts that cannot be recorded yet are not a failure: they go back to the queue after a pause.
 */
export function startAttemptRecorder({ record, onRecorded, log }: AttemptRecorderOptions): AttemptRecorder {
  let queue: Attempt[] = [];
  let maxBatch = MAX_BATCH;
  /** The attempts of failed batches: their transaction may have committed anyway. */
  const uncertain = new WeakSet<Attempt>();

  /** Takes a batch from the queue, with at most one attempt per message. A second attempt waits for the next batch. */
  const takeBatch = (): Attempt[] => {
    const batch = new Map<string, Attempt>();
    const rest: Attempt[] = [];
    for (const attempt of queue) {
      if (batch.size === maxBatch || batch.has(attempt.message.id)) rest.push(attempt);
      else batch.set(attempt.message.id, attempt);
    }
    queue = rest;
    return [...batch.values()];
  };

  const requeue = (postponed: readonly Attempt[]): void => {
    queue.unshift(...postponed);
    loop.wake();
  };

  const loop = startPollLoop({
    name: 'record attempts',
    async poll() {
      const batch = takeBatch();
      if (batch.length === 0) return POLL_EVERY_MS;
      let postponed: ReadonlySet<Attempt>;
      try {
        const mayBeRecorded = batch.some((attempt) => uncertain.has(attempt));
        postponed = new Set(await record(batch, mayBeRecorded));
      } catch (error) {
        for (const attempt of batch) uncertain.add(attempt);
        queue.push(...batch);
        maxBatch = Math.ceil(batch.length / 2);
        throw error;
      }
      maxBatch = Math.min(maxBatch * 2, MAX_BATCH);
      if (postponed.size > 0) setTimeout(requeue, RETRY_POSTPONED_MS, [...postponed]).unref();
      onRecorded(batch.filter((attempt) => !postponed.has(attempt)));
      return 0;
    },
    log,
  });

  return {
    add(attempt) {
      queue.push(attempt);
      loop.wake();
    },
    stop: loop.stop,
  };
}
