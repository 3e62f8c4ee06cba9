/**
 * Limits how many files are copied within the object store at the same time. Each process counts its own. The quotas do
 * not count a copy before its row is committed, and a store may have to read and write all of its bytes.
 */
import { serviceUnavailable, tooManyRequests } from '../core/errors.ts';
import { createLimiter } from '../core/limiter.ts';
import { SECOND_MS } from '../core/time.ts';
import type { ObjectStore } from './object-store.ts';

const RETRY_AFTER_SECONDS = 5;

const defaults = {
  /** How many calls of a workspace may wait for an earlier one. */
  maxWaitingCalls: 10,
  maxCopies: 8,
  maxCopiesPerWorkspace: 4,
  /** How many files may wait to be copied. */
  maxWaitingCopies: 500,
  /** How long a call waits for an earlier one of its workspace, and a file for others. */
  maxWaitMs: 30 * SECOND_MS,
};

/** Copies an object as `ObjectStore.copy` does, when it is its turn. Throws 503 if too many files wait, or too long. */
export type CopyObject = ObjectStore['copy'];

export type CopySlots = {
  /**
   * Runs `work`, which looks for files of a workspace, copies them with `copy` and commits the rows that refer to the
   * copies. The calls of a workspace run one after another: of several that are about the same files, only the first
   * finds them. Workspaces take turns with each file. Throws 429 if too many calls of the workspace wait, or too long.
   */
  run<Result>(
    store: Pick<ObjectStore, 'copy'>,
    workspaceId: number,
    work: (copy: CopyObject) => Promise<Result>,
  ): Promise<Result>;
};

/** Creates slots for this process only: they are counted in memory. */
export function createCopySlots(limits: Partial<typeof defaults> = {}): CopySlots {
  const { maxWaitingCalls, maxCopies, maxCopiesPerWorkspace, maxWaitingCopies, maxWaitMs } = { ...defaults, ...limits };
  const calls = createLimiter<number>({
    maxPerKey: 1,
    maxQueued: Number.POSITIVE_INFINITY,
    maxQueuedPerKey: maxWaitingCalls,
    maxWaitMs,
    full: () =>
      tooManyRequests('Other files of the workspace are being copied: try again in a moment', RETRY_AFTER_SECONDS),
  });
  const copies = createLimiter<number>({
    max: maxCopies,
    maxPerKey: maxCopiesPerWorkspace,
    maxQueued: maxWaitingCopies,
    maxWaitMs,
    full: () => serviceUnavailable('Too many files are being copied: try again in a moment', RETRY_AFTER_SECONDS),
  });
  return {
    run: (store, workspaceId, work) =>
      calls.run(workspaceId, () => work((from, to) => copies.run(workspaceId, () => store.copy(from, to)))),
  };
}
