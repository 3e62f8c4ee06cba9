/**
 * Limits on bookings. Anyone can book without signing in, and each booking blocks time of the host and creates a room.
 */
import { createHash } from 'node:crypto';
import { conflictForNow, tooManyRequests } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Settings } from '../../services.ts';

/**
 * The maximum number of bookings beyond the limit of a host that wait for confirmation. With one more, the oldest
 * one of the network with the most ends, so strangers replace their own bookings and not those of others.
 */
const MAX_WAITING = 100;

type Maximums = Pick<Settings, 'maxBookingsPerNetwork' | 'maxBookingsPerHost'>;

/** The maximum number of upcoming bookings per mailbox and page. */
const MAX_UPCOMING = 3;
/** An estimate: the limits cover a sliding window of 24 hours, so a booking can become possible at any time. */
const RETRY_AFTER_SECONDS = 3_600;

/**
 * Hashes a network differently for each host, so that stored bookings do not reveal that a guest booked with several
 * hosts.
 */
export function hashNetwork(network: string, hostId: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(`${hostId}:${network}`).digest());
}

/**
 * Returns the limits as parameters of `insertBooking`. They are exact, because that statement counts while it holds the
 * lock on the host's calendar. Cancelled bookings count toward the limit of the network, but not toward the limit of
 * the host. A host can therefore make room for others by cancelling the bookings of a stranger. Bookings that wait do
 * not count toward it either.
 */
export function toBounds({ maxBookingsPerNetwork, maxBookingsPerHost }: Maximums, now: Date) {
  return {
    countedSince: new Date(now.getTime() - DAY_MS),
    maxUpcoming: MAX_UPCOMING,
    maxByNetwork: maxBookingsPerNetwork,
    maxByHost: maxBookingsPerHost,
    maxWaiting: MAX_WAITING,
  };
}

/**
 * Throws 409 if the mailbox has three upcoming bookings on the page, and 429 if the network has reached its limit for
 * 24 hours, which does not apply to callers who are exempt from rate limits.
 */
export function requireWithinBounds(
  { maxBookingsPerNetwork }: Maximums,
  { upcoming, by_network }: { upcoming: number; by_network: number },
): void {
  if (upcoming >= MAX_UPCOMING)
    throw conflictForNow(`This email address already has ${MAX_UPCOMING} upcoming bookings on this page`);
  if (maxBookingsPerNetwork > 0 && by_network >= maxBookingsPerNetwork)
    throw tooManyRequests('Too many bookings from this network: try again later', RETRY_AFTER_SECONDS);
}

/**
 * Whether the host has reached the limit for 24 hours. Further bookings wait for confirmation: if they were refused, a
 * few strangers could close the page.
 */
export function isBeyondHost({ maxBookingsPerHost }: Maximums, { by_host }: { by_host: number }): boolean {
  return maxBookingsPerHost > 0 && by_host >= maxBookingsPerHost;
}
