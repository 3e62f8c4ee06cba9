/** Concurrent calls that read the same data share one read. */
import { currentCall, endWait, startWait } from './call-bounds.ts';

export type SharedReads = {
  /**
   * Returns the result of `read`. While a read with the same key is in progress, later calls wait for it to end, and
   * then share one new read. So no call gets the result of a read that started before the call. `key` must determine
   * the type of the result, and everything that `read` depends on except the time. If a shared read fails, each call
   * that did not start it reads again on its own. The read may have failed only because the caller who started it hung
   * up.
   */
  run<Result>(key: string, read: () => Promise<Result>): Promise<Result>;
};

/** How long calls wait for a read in progress. A slow read, such as one on a dead connection, must not hold them up. */
const MAX_WAIT_MS = 50;

export function createSharedReads(): SharedReads {
  /** For each key, the newest read in progress. */
  const running = new Map<string, Promise<unknown>>();
  /** For each key, the read that starts after the one in progress. */
  const queued = new Map<string, Promise<unknown>>();

  const start = <Result>(key: string, read: () => Promise<Result>): Promise<Result> => {
    const result = read();
    running.set(key, result);
    const end = (): void => {
      if (running.get(key) === result) running.delete(key);
    };
    result.then(end, end);
    return result;
  };

  const startAfter = async <Result>(earlier: Promise<unknown>, key: string, read: () => Promise<Result>) => {
    await countWait(settledInTime(earlier));
    queued.delete(key);
    return start(key, read);
  };

  return {
    run<Result>(key: string, read: () => Promise<Result>) {
      const shared = queued.get(key);
      // `as`: the key determines the type.
      if (shared) return countWait(shared as Promise<Result>).catch(read);
      const earlier = running.get(key);
      if (!earlier) return start(key, read);
      const result = startAfter(earlier, key, read);
      queued.set(key, result);
      return result;
    },
  };
}

/** Resolves when `work` has settled, and after `MAX_WAIT_MS` at the latest. */
function settledInTime(work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MAX_WAIT_MS);
  const stop = (): void => {
    clearTimeout(timer);
    resolve();
  };
  work.then(stop, stop);
  return promise;
}

/** Counts the wait as a wait for the database. */
async function countWait<Result>(waiting: Promise<Result>): Promise<Result> {
  const call = currentCall.getStore();
  if (call === undefined) return waiting;
  startWait(call.waited);
  return waiting.finally(() => endWait(call.waited));
}
