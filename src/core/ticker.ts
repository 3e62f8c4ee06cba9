/** The source of elapsed time and of repeated calls, so that tests can control both. */
export type Ticker = {
  /** Milliseconds on a clock that only moves forward. */
  now(): number;
  /** Calls `tick` every `ms` milliseconds. Does not keep the process running. Returns a function that stops it. */
  every(ms: number, tick: () => void): () => void;
};

export const systemTicker: Ticker = {
  now: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref();
    return () => clearInterval(timer);
  },
};
