/** Limits the number of concurrent contact imports. */
import { Readable } from 'node:stream';
import { conflict, serviceUnavailable } from '../../core/errors.ts';
import { createLimiter } from '../../core/limiter.ts';
import { SECOND_MS } from '../../core/time.ts';
import { createImportBuffers } from './import-buffers.ts';

const RETRY_AFTER_SECONDS = 10;

const defaults = {
  /** An import uses a large share of the CPU time of the process. */
  maxRunning: 2,
  maxWaiting: 20,
  /** An import of 100,000 rows takes about 10 s. */
  maxWaitMs: 30 * SECOND_MS,
  /** The memory for all files together. Each file has at most 10 MiB. */
  maxBytes: 64 * 1024 * 1024,
};

export type ImportLimiter = {
  /**
   * Receives `file`, waits for a slot, and runs `work` with the complete file. Users take turns for the slots, so that
   * a user with slow files or many files does not block others. Throws 409 while another import of the workspace is
   * arriving, waiting or running. Throws 503 if the memory or the queue is full, or if the wait is too long.
   */
  run<Result>(
    by: { userId: number; workspaceId: number },
    file: AsyncIterable<Buffer>,
    work: (file: AsyncIterable<Buffer>) => Promise<Result>,
  ): Promise<Result>;
};

/** Creates a limiter for this process only: it counts in memory. */
export function createImportLimiter(limits: Partial<typeof defaults> = {}): ImportLimiter {
  const { maxRunning, maxWaiting, maxWaitMs, maxBytes } = { ...defaults, ...limits };
  const busy = () => serviceUnavailable('Other imports are running: try again in a moment', RETRY_AFTER_SECONDS);
  const perWorkspace = createLimiter<number>({
    maxPerKey: 1,
    full: () => conflict('An import is running in this workspace', { retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
  const buffers = createImportBuffers(maxBytes, busy);
  const queue = createLimiter<number>({ max: maxRunning, maxQueued: maxWaiting, maxWaitMs, full: busy });
  return {
    run: ({ userId, workspaceId }, file, work) =>
      perWorkspace.run(workspaceId, async () => {
        const { blocks, release } = await buffers.receive(userId, file);
        try {
          return await queue.run(userId, () => work(Readable.from(blocks)));
        } finally {
          release();
        }
      }),
  };
}
