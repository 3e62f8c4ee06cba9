/** Polls for work on each wake-up, and at intervals in case a wake-up is lost. */
import type { Log } from '../core/log.ts';
import { watchWork } from '../core/work-watch.ts';

export type PollLoop = {
  /** Starts a poll immediately, or as soon as the current poll has ended. */
  wake(): void;
  /** Prevents further polls. Resolves when the current poll, if any, has ended. */
  stop(): Promise<void>;
};

export type PollLoopOptions = {
  /** The name of the loop in the log. */
  name: string;
  /** Does the pending work. Resolves with the milliseconds until the next poll; 0 means immediately. */
  poll: () => Promise<number>;
  log: Log;
};

const PAUSE_AFTER_ERROR_MS = 1_000;

/**
 * Calls `poll` repeatedly, one call at a time, until the loop is stopped. A wake-up during a poll is not lost: another
 * poll follows immediately. A poll that fails is logged. The next poll follows after a second, or at the next wake-up
 * if it comes sooner.
 */
export function startPollLoop({ name, poll, log }: PollLoopOptions): PollLoop {
  let isStopping = false;
  let isWoken = false;
  let endWait = (): void => {};

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
      if (isWoken || isStopping) endWait();
    });

  const run = async (): Promise<void> => {
    while (!isStopping) {
      isWoken = false;
      try {
        const waitMs = await watchWork(name, poll);
        if (waitMs > 0) await wait(waitMs);
      } catch (error) {
        log.error({ err: error, loop: name }, 'A poll failed');
        // Wake-ups during the failed poll do not shorten the pause: there can be many, and the error is likely to
        // persist.
        isWoken = false;
        await wait(PAUSE_AFTER_ERROR_MS);
      }
    }
  };

  const running = run();
  return {
    wake() {
      isWoken = true;
      endWait();
    },
    stop() {
      isStopping = true;
      endWait();
      return running;
    },
  };
}
