/** Reading what can be booked, and what is. */
import type { Actor } from '../../auth/identify.ts';
import { badField } from '../../core/errors.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, toUnixSeconds } from '../../core/time.ts';
import { Prisma } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { freeTimes } from '../booking-pages/free-times.ts';
import { openHoursOf } from '../booking-pages/present.ts';
import { MAX_DURATION } from '../booking-pages/schemas.ts';
import { findPage, horizonOf, listTaken } from './open-page.ts';
import type { Booking, ListBookingsInput, TimesAnswer, TimesInput } from './schemas.ts';

const MAX_DAYS = 62;
const USUAL_DAYS = 14;

type BookingRow = {
  id: number;
  booking_page_id: number;
  title: string;
  contact_id: number | null;
  name: string;
  email: string;
  room_name: string | null;
  starts_at: Date;
  ends_at: Date;
  cancelled_at: Date | null;
  created_at: Date;
};

/**
 * The times of a range at which a meeting can be booked, as far as 365 days from now. Throws 400, and 404 "Booking page
 * not found".
 */
export async function listTimes(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { slug, ...range }: TimesInput,
): Promise<TimesAnswer> {
  const now = clock.now();
  const { from, to: end } = rangeOf(range, now);
  const page = await findPage(db, slug);
  // The horizon itself is the last time that can be booked.
  const to = new Date(Math.min(end.getTime(), horizonOf(now).getTime() + 1));
  const taken = await listTaken(db, page, from, new Date(to.getTime() + page.duration * MINUTE_MS));
  const times = freeTimes({
    openHours: openHoursOf(page),
    durationMinutes: page.duration,
    taken,
    now,
    from,
    to,
    // The range bounds them: some 18,000 of the shortest meetings.
    maxSlots: Number.POSITIVE_INFINITY,
  });
  return {
    page: { title: page.title, slug: page.slug, duration_minutes: page.duration, time_zone: page.timeZone },
    times: times.map(toUnixSeconds),
  };
}

/** Throws 400 for a range that is empty or too long. */
function rangeOf({ from, to }: Pick<TimesInput, 'from' | 'to'>, now: Date): { from: Date; to: Date } {
  const start = from === undefined ? now : toDate(from);
  const end = to === undefined ? new Date(start.getTime() + USUAL_DAYS * DAY_MS) : toDate(to);
  if (end <= start || end.getTime() - start.getTime() > MAX_DAYS * DAY_MS)
    throw badField('to', `to must be after from, by at most ${MAX_DAYS} days`);
  return { from: start, to: end };
}

function toDate(unixSeconds: number): Date {
  return new Date(unixSeconds * SECOND_MS);
}

/**
 * A page of the workspace's bookings, cancelled ones too, what begins first first; without `from` those that have not
 * ended yet. Throws 400 for a range that is empty.
 */
export async function listBookings(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  { from, to, limit, offset }: ListBookingsInput,
): Promise<Booking[]> {
  const now = clock.now();
  if (to !== undefined && toDate(to) <= (from === undefined ? now : toDate(from)))
    throw badField('to', 'to must be after from, which is now where it is left out');
  const conditions = [
    Prisma.sql`b.workspace_id = ${workspaceId}`,
    notBefore(from, now),
    ...(to === undefined ? [] : [Prisma.sql`b.starts_at < ${toDate(to)}`]),
  ];
  const rows = await db.$queryRaw<BookingRow[]>`
    select b.id, b.booking_page_id, p.title, c.id as contact_id, b.name, b.email, r.name as room_name, b.starts_at,
      b.ends_at, b.cancelled_at, b.created_at
    from bookings b
    join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
    left join contacts c on c.workspace_id = b.workspace_id and c.id = b.contact_id
    left join rooms r on r.workspace_id = b.workspace_id and r.id = b.room_id
    where ${Prisma.join(conditions, ' and ')}
    order by b.starts_at, b.id limit ${limit} offset ${offset}`;
  return rows.map(toBooking);
}

/** What begins from here on; where nobody says from when, what has not ended yet. */
function notBefore(from: number | undefined, now: Date): Prisma.Sql {
  if (from !== undefined) return Prisma.sql`b.starts_at >= ${toDate(from)}`;
  // No meeting lasts longer; the index knows when they begin.
  const earliest = new Date(now.getTime() - MAX_DURATION * MINUTE_MS);
  return Prisma.sql`b.starts_at > ${earliest} and b.ends_at > ${now}`;
}

function toBooking(row: BookingRow): Booking {
  return {
    id: row.id,
    booking_page_id: row.booking_page_id,
    title: row.title,
    contact_id: row.contact_id,
    name: row.name,
    email: row.email,
    room_name: row.room_name,
    starts_at: toUnixSeconds(row.starts_at),
    ends_at: toUnixSeconds(row.ends_at),
    cancelled_at: row.cancelled_at === null ? null : toUnixSeconds(row.cancelled_at),
    created_at: toUnixSeconds(row.created_at),
  };
}
