/** Bounds of a batch: how many of its calls run at a time, and how large their combined results may be. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { AppError } from './errors.ts';
import { createLimiter } from './limiter.ts';

const MAX_RUNNING = 4;
/** All results are serialized in one step, which takes 5 to 10 ms per MiB (bench/event-loop.ts). */
const MAX_RESULT_BYTES = 4 * 1024 * 1024;

export type BatchBounds = {
  /**
   * Runs a call when its turn comes. The process serves other requests between the calls. Once the results are too
   * large, calls that only read fail with 413. A call that writes never fails for this reason, because it has already
   * taken effect.
   */
  run(isRead: boolean, call: () => Promise<unknown>): Promise<unknown>;
};

export function createBatchBounds(maxResultBytes = MAX_RESULT_BYTES): BatchBounds {
  // A batch has a bounded number of calls, so its queue needs no bound.
  const turns = createLimiter<'batch'>({ max: MAX_RUNNING, maxQueued: Number.POSITIVE_INFINITY, full: tooLarge });
  let bytes = 0;
  let isFull = false;
  return {
    run: (isRead, call) =>
      turns.run('batch', async () => {
        if (isRead && isFull) throw tooLarge();
        try {
          const result = await call();
          bytes += Buffer.byteLength(JSON.stringify(result) ?? '');
          isFull = bytes > maxResultBytes;
          if (isRead && isFull) throw tooLarge();
          return result;
        } finally {
          await yieldToEventLoop();
        }
      }),
  };
}

function tooLarge(): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'The results of this batch are too large: send fewer calls at once');
}
