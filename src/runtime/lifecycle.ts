/** Starts a service that consists of several parts, and stops the parts in reverse order. */
import { inTime } from '../core/in-time.ts';
import type { Log } from '../core/log.ts';

/** Stops all parts, last started first. Never rejects; a repeated call returns the same promise. */
export type Stoppable = { stop(): Promise<void> };

const LATE = Symbol('late');

/** Wraps the stop function of a part, so that it resolves in time. */
export type StopInTime = (part: string, stop: () => Promise<unknown>) => () => Promise<void>;

/**
 * Runs `start`, which registers a stop function on `cleanup` for each part as soon as that part is started. If `start`
 * fails, the parts that were started are stopped before the error is thrown. A part that fails to stop is logged and
 * does not keep the others from stopping.
 */
export async function startWithCleanup<Started extends object>(
  log: Log,
  start: (cleanup: AsyncDisposableStack) => Promise<Started>,
): Promise<Started & Stoppable> {
  const cleanup = new AsyncDisposableStack();
  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= cleanup.disposeAsync().catch((error: unknown) => logEach(error, log));
    return stopped;
  }
  try {
    return { ...(await start(cleanup)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Limits the total time that the parts of a process may take to stop. The time starts when the first part begins to
 * stop. After the deadline, the remaining parts, such as the database pool, are still told to stop, but nothing waits
 * for them.
 */
export function createStopDeadline(log: Log, totalMs: number): StopInTime {
  let endsAt: number | undefined;
  return (part, stop) => async () => {
    endsAt ??= performance.now() + totalMs;
    const outcome = await inTime(stop(), Math.max(0, endsAt - performance.now()), LATE);
    if (outcome === LATE) log.error({ part }, 'Failed to stop in time');
  };
}

/** A disposable stack reports several failures as a chain, the last one outermost. */
function logEach(error: unknown, log: Log): void {
  if (error instanceof SuppressedError) {
    logEach(error.suppressed, log);
    logEach(error.error, log);
  } else {
    log.error({ err: error }, 'Failed to stop cleanly');
  }
}
