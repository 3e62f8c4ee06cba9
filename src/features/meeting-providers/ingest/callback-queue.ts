/** The queue of verified callbacks, one for each workspace, in the memory of this process. */
import { serviceUnavailable } from '../../../core/errors.ts';
import { createKeyedSemaphore } from '../../../core/semaphore.ts';

/** Less than half of the database connections that a process has by default. */
const MAX_AT_ONCE = 4;
/** A longer queue would take more time than providers wait for a response. */
const MAX_QUEUED = 100;
/** A full queue empties in less time. */
const RETRY_AFTER_SECONDS = 5;

const callbacks = createKeyedSemaphore<number>(MAX_AT_ONCE, {
  maxQueued: MAX_QUEUED,
  queueFull: () => serviceUnavailable('Too many callbacks at once: try again in a moment', RETRY_AFTER_SECONDS),
});

/**
 * Runs `work` while at most three other callbacks of the workspace run, in the order of the calls: however many one
 * workspace gets, the others have database connections left. The limit is per workspace and not per connection, since a
 * workspace may have any number of connections, and their callbacks are applied one after the other anyway. Throws
 * SERVICE_UNAVAILABLE (503) if 100 wait already.
 */
export function queueCallback<Result>(workspaceId: number, work: () => Promise<Result>): Promise<Result> {
  return callbacks.run(workspaceId, work);
}
