/** A booking page for its visitors: looked up by its slug, with the times at which its host is not free. */
import { notFound } from '../../core/errors.ts';
import { isSlug } from '../../core/slugs.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import type { Database, Tx } from '../../db/client.ts';
import type { BookingPageRow } from '../booking-pages/present.ts';
import { MAX_DURATION } from '../booking-pages/schemas.ts';
import type { TakenTime } from './available-times.ts';

const HORIZON_DAYS = 365;

/** `userId` and `userName` are the host's. */
export type BookablePage = Omit<BookingPageRow, 'createdAt' | 'updatedAt'> & { userName: string };

/** The latest time at which a meeting that is booked now may start. */
export function bookingHorizon(now: Date): Date {
  return new Date(now.getTime() + HORIZON_DAYS * DAY_MS);
}

/** Finds the page that has this slug. Throws 404 "Booking page not found". */
export async function findBookablePage(db: Database | Tx, slug: string): Promise<BookablePage> {
  // Visitors can send any text as a slug, including text that PostgreSQL does not accept.
  if (!isSlug(slug)) throw notFound('Booking page');
  const [page] = await db.$queryRaw<BookablePage[]>`
    select p.id, p.workspace_id as "workspaceId", p.user_id as "userId", u.name as "userName", p.title, p.slug,
      p.duration, p.time_zone as "timeZone", p.hours
    from booking_pages p join users u on u.id = p.user_id where p.slug = ${slug}`;
  if (!page) throw notFound('Booking page');
  return page;
}

/**
 * Lists the times of the host's bookings that overlap the range from `from` to `to`, without cancelled ones. The
 * bookings may be on other pages, including pages of other workspaces.
 */
export async function listTakenTimes(
  db: Database | Tx,
  { userId }: Pick<BookingPageRow, 'userId'>,
  from: Date,
  to: Date,
): Promise<TakenTime[]> {
  // The index is on `starts_at`, so this bounds the scan: because of the maximum duration, a booking that starts before
  // `earliest` has ended by `from`.
  const earliest = new Date(from.getTime() - MAX_DURATION * MINUTE_MS);
  return db.booking.findMany({
    where: {
      userId,
      cancelledAt: null,
      startsAt: { gte: earliest, lt: to },
      endsAt: { gt: from },
    },
    select: { startsAt: true, endsAt: true },
  });
}
