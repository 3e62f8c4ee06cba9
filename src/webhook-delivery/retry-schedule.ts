/** When a failed attempt is retried. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';

/** The delay before each attempt of a round: ten attempts in about 75 hours. */
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
 * After `roundAttempts` attempts in this round, returns the milliseconds until the next attempt, or null if there is no
 * further attempt. A Retry-After, capped at an hour, can make the delay longer, never shorter. Jitter adds at most 20
 * %, so that messages that failed together are not retried together; it never shortens a delay. `random` returns a
 * number from 0 to 1.
 */
export function nextDelayMs(
  roundAttempts: number,
  retryAfterSeconds: number | null,
  random: () => number = Math.random,
): number | null {
  const scheduled = DELAYS_MS[roundAttempts];
  if (scheduled === undefined) return null;
  const requested = Math.min((retryAfterSeconds ?? 0) * SECOND_MS, MAX_RETRY_AFTER_MS);
  return Math.round(Math.max(scheduled, requested) * (1 + JITTER * random()));
}
