/** Limits how many imports of contacts run at once. */
import { conflict, serviceUnavailable } from '../../core/errors.ts';
import { createKeyedSemaphore, createSemaphore } from '../../core/semaphore.ts';

/** An import takes much of the process's time. Anyone can create workspaces, so a limit per workspace is not enough. */
const MAX_RUNNING = 2;
const RETRY_AFTER_SECONDS = 10;

export type ImportLimiter = {
  /**
   * Runs `work`, which imports into this workspace. Throws 409 while another import is running in the workspace, and
   * 503 while two imports are running in the process.
   */
  run<Result>(workspaceId: number, work: () => Promise<Result>): Promise<Result>;
};

/** Creates the limiter of this process. It counts in memory. */
export function createImportLimiter(): ImportLimiter {
  const perWorkspace = createKeyedSemaphore<number>(1, {
    maxQueued: 0,
    queueFull: () => conflict('An import is running in this workspace', { retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
  const inProcess = createSemaphore(MAX_RUNNING, {
    maxQueued: 0,
    queueFull: () => serviceUnavailable('Other imports are running: try again in a moment', RETRY_AFTER_SECONDS),
  });
  return { run: (workspaceId, work) => perWorkspace.run(workspaceId, () => inProcess.run(work)) };
}
