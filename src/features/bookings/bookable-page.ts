/** A booking page for its visitors: looked up by its slug, with the times at which its host is not free. */
import { notFound } from '../../core/errors.ts';
import { isSlug } from '../../core/slugs.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import { onlyRow } from '../../db/only-row.ts';
import { int, json, type RowOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { BookingPageRow } from '../booking-pages/present.ts';
import { MAX_DURATION } from '../booking-pages/schemas.ts';
import type { TakenTime } from './available-times.ts';

const HORIZON_DAYS = 365;

const pageBySlug = statement('find-bookable-page', {
  params: { slug: text },
  returns: {
    id: int,
    workspaceId: int,
    userId: int,
    userName: text,
    title: text,
    slug: text,
    duration: int,
    timeZone: text,
    hours: json<unknown>(),
    version: text,
  },
  sql: `
    select p.id, p.workspace_id as "workspaceId", p.user_id as "userId", u.name as "userName", p.title, p.slug,
      p.duration, p.time_zone as "timeZone", p.hours, p.xmin::text as version
    from booking_pages p join users u on u.id = p.user_id where p.slug = $slug`,
});

/**
 * Returns one row, because the calendar of a busy host has thousands of bookings, and each row takes several
 * microseconds of CPU. The index is on `starts_at`, so `earliest` bounds the scan.
 */
const takenTimes = statement('list-taken-times', {
  params: { userId: int, earliest: time, from: time, to: time },
  returns: { times: json<[startsAt: number, endsAt: number][]>('json') },
  sql: `
    select coalesce(json_agg(array[extract(epoch from starts_at), extract(epoch from ends_at)]), '[]') as times
    from bookings
    where user_id = $userId and cancelled_at is null and starts_at >= $earliest and starts_at < $to
      and ends_at > $from`,
});

/** `userId` and `userName` are the host's. `version` differs after every change of the page. */
export type BookablePage = RowOf<typeof pageBySlug>;

/** The latest time at which a meeting that is booked now may start. */
export function bookingHorizon(now: Date): Date {
  return new Date(now.getTime() + HORIZON_DAYS * DAY_MS);
}

/** Finds the page that has this slug. Throws 404 "Booking page not found". */
export async function findBookablePage(sql: Sql, slug: string): Promise<BookablePage> {
  // Visitors can send any text as a slug, including text that PostgreSQL does not accept.
  if (!isSlug(slug)) throw notFound('Booking page');
  const [page] = await sql.run(pageBySlug, { slug });
  if (!page) throw notFound('Booking page');
  return page;
}

/**
 * Lists the times of the host's bookings that overlap the range from `from` to `to`, without cancelled ones. The
 * bookings may be on other pages, including pages of other workspaces.
 */
export async function listTakenTimes(
  sql: Sql,
  { userId }: Pick<BookingPageRow, 'userId'>,
  from: Date,
  to: Date,
): Promise<TakenTime[]> {
  // Because of the maximum duration, a booking that starts before `earliest` has ended by `from`.
  const earliest = new Date(from.getTime() - MAX_DURATION * MINUTE_MS);
  const { times } = onlyRow(await sql.run(takenTimes, { userId, earliest, from, to }));
  return times.map(([startsAt, endsAt]) => ({ startsAt: toDate(startsAt), endsAt: toDate(endsAt) }));
}

function toDate(seconds: number): Date {
  return new Date(Math.round(seconds * 1000));
}
