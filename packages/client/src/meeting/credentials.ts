/** Decides when the credentials of relays are replaced. Without types of browsers, so that it can be tested. */

/** A renewal is never asked for more often. */
const MIN_WAIT_MS = 3_000;

/**
 * How long to wait before the credentials that end at `expiresAt` are replaced: half of what is left, so that there is
 * time for several attempts. Times are in milliseconds, by the clock of the service. null if they do not end.
 */
export function waitForRenewal(expiresAt: number | null, now: number): number | null {
  return expiresAt === null ? null : Math.max(MIN_WAIT_MS, (expiresAt - now) / 2);
}
