/** Decides when the slow lane is polled: at most five times a second, and less often if polls take long. */

export type SlowLanePacing = {
  /** Milliseconds until the slow lane may be polled; 0 means now. */
  waitMs(): number;
  /** Polls the slow lane. The duration of the poll determines when the next one is due. */
  run<Result>(poll: () => Promise<Result>): Promise<Result>;
};

const MIN_INTERVAL_MS = 200;
/** The pause after a poll, in multiples of its duration. */
const PAUSE_FACTOR = 10;

/** The slow lane can contain many messages for dead receivers, and finding the due messages among them is slow. */
export function createSlowLanePacing(now: () => number = () => performance.now()): SlowLanePacing {
  let nextAt = 0;
  return {
    waitMs: () => Math.max(0, nextAt - now()),
    async run(poll) {
      const startedAt = now();
      const result = await poll();
      const endedAt = now();
      nextAt = endedAt + Math.max(MIN_INTERVAL_MS, PAUSE_FACTOR * (endedAt - startedAt));
      return result;
    },
  };
}
