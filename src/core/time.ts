/** The only source of "now", so that tests can hold it. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** An integer Unix timestamp in seconds, as every `*_at` field of the contract carries it. */
export function toUnixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** The inverse of `toUnixSeconds`. */
export function fromUnixSeconds(seconds: number): Date {
  return new Date(seconds * SECOND_MS);
}
