/** The only source of the current time, so that tests can control it. */
export type Clock = { now(): Date };

/** The clock of this machine. The service uses `DatabaseClock`, so that servers agree on the time. */
export const systemClock: Clock = { now: () => new Date() };

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** How often background work looks for rows without a wake-up. NOTIFY wakes it; this covers wake-ups that are lost. */
export const SAFETY_POLL_MS = 30 * SECOND_MS;

/** Converts to an integer Unix timestamp in seconds, the format of every `*_at` field. */
export function toUnixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** The inverse of `toUnixSeconds`. */
export function fromUnixSeconds(seconds: number): Date {
  return new Date(seconds * SECOND_MS);
}
