/** The bounds on anonymous bookings: anyone can book, and each booking blocks the host's time and creates a room. */
import { createHash } from 'node:crypto';
import { conflict, tooManyRequests } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { Settings } from '../../services.ts';
import type { BookablePage } from './bookable-page.ts';

/** The maximum number of upcoming bookings per mailbox and page. */
const MAX_UPCOMING = 3;
/** A guess: the other two bounds count a sliding window of 24 hours, so another booking may be possible at any time. */
const RETRY_AFTER_SECONDS = 3_600;

/** The person who books. `networkHash` is null for a caller who is exempt from rate limits. */
export type Guest = { mailbox: string; networkHash: Uint8Array<ArrayBuffer> | null };

type Counts = { upcoming: number; byHost: number; byNetwork: number };

/** Identifies a network with this host only, so that stored bookings do not show who booked with several hosts. */
export function hashNetwork(network: string, hostId: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(`${hostId}:${network}`).digest());
}

/**
 * Throws 409 if the mailbox has three upcoming bookings on the page, and 429 if the network or the host has reached its
 * bound for 24 hours. Cancelled bookings count for the network, and not for the host: cancelling what a stranger booked
 * makes room for others. Call it with the calendar of the host locked, so that the bounds are exact.
 */
export async function requireWithinBounds(
  tx: Tx,
  { maxBookingsPerNetwork, maxBookingsPerHost }: Pick<Settings, 'maxBookingsPerNetwork' | 'maxBookingsPerHost'>,
  { workspaceId, id, userId }: BookablePage,
  { mailbox, networkHash }: Guest,
  now: Date,
): Promise<void> {
  const since = new Date(now.getTime() - DAY_MS);
  const rows = await tx.$queryRaw<Counts[]>`
    select
      (select count(*)::int from bookings where workspace_id = ${workspaceId} and booking_page_id = ${id}
        and mailbox = ${mailbox} and cancelled_at is null and starts_at > ${now}) as upcoming,
      count(*) filter (where cancelled_at is null)::int as "byHost",
      count(*) filter (where network_hash = ${networkHash}::bytea)::int as "byNetwork"
    from bookings where user_id = ${userId} and created_at > ${since}`;
  const { upcoming, byHost, byNetwork } = onlyRow(rows);
  if (upcoming >= MAX_UPCOMING)
    throw conflict(`This email address already has ${MAX_UPCOMING} upcoming bookings on this page`);
  if (maxBookingsPerNetwork > 0 && byNetwork >= maxBookingsPerNetwork)
    throw tooManyRequests('Too many bookings from this network: try again later', RETRY_AFTER_SECONDS);
  if (maxBookingsPerHost > 0 && byHost >= maxBookingsPerHost)
    throw tooManyRequests('Too many bookings with this host today: try again later', RETRY_AFTER_SECONDS);
}
