import type { Actor } from '../../auth/identify.ts';
import { badField } from '../../core/errors.ts';
import { fromUnixSeconds, MINUTE_MS, toUnixSeconds } from '../../core/time.ts';
import { Prisma } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { MAX_DURATION } from '../booking-pages/schemas.ts';
import type { Booking, ListBookingsInput } from './schemas.ts';

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
  overlaps: boolean;
};

/**
 * Lists the workspace's bookings a page at a time, including cancelled ones, earliest start first. Without `from` the
 * list begins with the first booking that has not ended. Throws 400 for an empty range.
 */
export async function listBookings(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  { from, to, limit, offset }: ListBookingsInput,
): Promise<Booking[]> {
  const now = clock.now();
  if (to !== undefined && fromUnixSeconds(to) <= (from === undefined ? now : fromUnixSeconds(from)))
    throw badField('to', '`to` must be after `from` (default: now)');
  const conditions = [
    Prisma.sql`b.workspace_id = ${workspaceId}`,
    lowerBound(from, now),
    ...(to === undefined ? [] : [Prisma.sql`b.starts_at < ${fromUnixSeconds(to)}`]),
  ];
  const rows = await db.$queryRaw<BookingRow[]>`
    select b.id, b.booking_page_id, p.title, c.id as contact_id, b.name, b.email, r.name as room_name, b.starts_at,
      b.ends_at, b.cancelled_at, b.created_at,
      b.may_overlap and b.cancelled_at is null and exists (
        select from bookings o where o.user_id = b.user_id and o.id <> b.id and o.cancelled_at is null
          and o.starts_at > b.starts_at - make_interval(mins => ${MAX_DURATION}) and o.starts_at < b.ends_at
          and o.ends_at > b.starts_at
      ) as overlaps
    from bookings b
    join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
    left join contacts c on c.workspace_id = b.workspace_id and c.id = b.contact_id
    left join rooms r on r.workspace_id = b.workspace_id and r.id = b.room_id
    where ${Prisma.join(conditions, ' and ')}
    order by b.starts_at, b.id limit ${limit} offset ${offset}`;
  return rows.map(toBooking);
}

/** Selects the bookings that start at or after `from`; without `from`, those that have not ended. */
function lowerBound(from: number | undefined, now: Date): Prisma.Sql {
  if (from !== undefined) return Prisma.sql`b.starts_at >= ${fromUnixSeconds(from)}`;
  // The index is on `starts_at`, so this bounds the scan: a booking that started at or before `earliest` has ended,
  // because none lasts longer.
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
    overlaps: row.overlaps ? 1 : 0,
  };
}
