/** When an attempt follows one that failed. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';

/** Before the first attempt of a round, before the second, and so on: ten in all, over 75 hours. */
export const DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

export const JITTER = 0.2;
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Milliseconds until the next attempt after `roundAttempts` were made in this round; null: there is none. A receiver's
 * Retry-After moves it further off, by its word up to an hour, never nearer. Up to 20 % come on top, by `random` from 0 to
 * 1: so what failed together does not return together, and nothing comes before the time that was promised or asked for.
 */
export function nextDelayMs(
  roundAttempts: number,
  retryAfterSeconds: number | null,
  random: () => number = Math.random,
): number | null {
  const scheduled = DELAYS_MS[roundAttempts];
  if (scheduled === undefined) return null;
  const asked = Math.min((retryAfterSeconds ?? 0) * SECOND_MS, MAX_RETRY_AFTER_MS);
  return Math.round(Math.max(scheduled, asked) * (1 + JITTER * random()));
}
