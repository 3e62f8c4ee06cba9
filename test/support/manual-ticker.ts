/** A ticker whose time passes only when the test says so. */
import type { Ticker } from '../../src/core/ticker.ts';

export type ManualTicker = Ticker & {
  /** Lets this many milliseconds pass, and calls what is due. */
  advance(ms: number): void;
  /** How many repeated calls have not been stopped. */
  running(): number;
};

export function createManualTicker(): ManualTicker {
  const schedule = new Set<{ everyMs: number; dueAt: number; tick: () => void }>();
  let now = 0;
  return {
    now: () => now,
    running: () => schedule.size,
    every(everyMs, tick) {
      const entry = { everyMs, dueAt: now + everyMs, tick };
      schedule.add(entry);
      return () => void schedule.delete(entry);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...schedule].filter(({ dueAt }) => dueAt <= end).sort((a, b) => a.dueAt - b.dueAt);
        if (next === undefined) break;
        now = next.dueAt;
        next.dueAt += next.everyMs;
        next.tick();
      }
      now = end;
    },
  };
}
