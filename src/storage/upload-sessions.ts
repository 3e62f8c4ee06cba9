/** What this process knows about the uploads that it receives. */
import { createHash, type Hash } from 'node:crypto';

/** How many unfinished hashes are kept between two requests. For others, the whole object is read at the end. */
const MAX_HASHES = 200;

export type UploadSessions = {
  /**
   * Runs the request that appends bytes to an upload, after stopping an earlier one. `stopped` aborts if `stop` is
   * called meanwhile.
   */
  run<Result>(uploadId: string, work: (stopped: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Stops the request of this process that appends bytes to an upload. Resolves when it has ended. */
  stop(uploadId: string): Promise<void>;
  /** Returns the SHA-256 of the first `received` bytes, to be continued. Null if this process has not seen them all. */
  takeHash(uploadId: string, received: number): Hash | null;
  /** Keeps the hash of the first `received` bytes for the next request. */
  keepHash(uploadId: string, received: number, hash: Hash): void;
};

export function createUploadSessions(): UploadSessions {
  const running = new Map<string, { stop: AbortController; ended: Promise<unknown> }>();
  // In the order of use, so that the first is the one that was used least recently.
  const hashes = new Map<string, { received: number; hash: Hash }>();

  const stopRunning = async (uploadId: string): Promise<void> => {
    const session = running.get(uploadId);
    session?.stop.abort();
    // Its own caller receives its error.
    await session?.ended.catch(() => undefined);
  };

  return {
    async run(uploadId, work) {
      await stopRunning(uploadId);
      const stop = new AbortController();
      const ended = work(stop.signal);
      const session = { stop, ended };
      running.set(uploadId, session);
      try {
        return await ended;
      } finally {
        if (running.get(uploadId) === session) running.delete(uploadId);
      }
    },
    stop: stopRunning,
    takeHash(uploadId, received) {
      if (received === 0) return createHash('sha256');
      const kept = hashes.get(uploadId);
      hashes.delete(uploadId);
      return kept?.received === received ? kept.hash : null;
    },
    keepHash(uploadId, received, hash) {
      hashes.delete(uploadId);
      hashes.set(uploadId, { received, hash });
      const [oldest] = hashes.keys();
      if (hashes.size > MAX_HASHES && oldest !== undefined) hashes.delete(oldest);
    },
  };
}
