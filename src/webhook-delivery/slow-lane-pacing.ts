/** When the slow lane is polled: seldom, and the less often the longer a poll takes. */

export type SlowLanePacing = {
  /** Milliseconds until the slow lane may be polled; 0: now. */
  waitMs(): number;
  /** Polls the slow lane, and sets the time of the next poll by the time that this one takes. */
  run<Result>(poll: () => Promise<Result>): Promise<Result>;
};

const MIN_INTERVAL_MS = 200;
/** The pause after a poll, in multiples of its duration. */
const PAUSE_FACTOR = 10;

/** Messages for dead receivers can be many, and finding those that are due among them takes the database's time. */
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
