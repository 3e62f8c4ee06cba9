import type { Actor } from '../../auth/identify.ts';
import { badField } from '../../core/errors.ts';
import type { Page } from '../../core/list-page.ts';
import { fromUnixSeconds, MINUTE_MS } from '../../core/time.ts';
import { LAST_SECOND } from '../../core/validation.ts';
import { secondsOf } from '../../db/columns.ts';
import { onlyRow } from '../../db/only-row.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, nullable, oneOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { holdsTime } from '../booking-pages/host-calendar.ts';
import { MAX_DURATION } from '../booking-pages/schemas.ts';
import type { Booking, ListBookingsInput } from './schemas.ts';

const columns = {
  id: int,
  booking_page_id: int,
  title: text,
  host_id: int,
  host_name: text,
  contact_id: nullable(int),
  name: text,
  email: text,
  time_zone: nullable(text),
  room_name: nullable(text),
  starts_at: float,
  ends_at: float,
  status: oneOf<Booking['status']>(),
  awaits: nullable(oneOf<'guest' | 'host'>()),
  cancelled_at: nullable(float),
  created_at: float,
  sequence: int,
  overlaps: int,
};

const status = `case when b.cancelled_at is not null then 'cancelled' when b.confirm_by is null then 'confirmed'
        else 'unconfirmed' end`;

const values = `
      b.id, b.booking_page_id, p.title, b.user_id as host_id, u.name as host_name,
      c.id as contact_id, b.name, b.email, b.time_zone, r.name as room_name,
      ${secondsOf('b.starts_at')} as starts_at, ${secondsOf('b.ends_at')} as ends_at,
      ${status} as status,
      case when b.cancelled_at is null and b.confirm_by is not null then
        case when b.confirm_hash is null then 'host' else 'guest' end end as awaits,
      ${secondsOf('b.cancelled_at')} as cancelled_at, ${secondsOf('b.created_at')} as created_at, b.sequence,
      (b.may_overlap and b.cancelled_at is null and exists (
        select from bookings o where o.user_id = b.user_id and o.id <> b.id and o.cancelled_at is null
          and ${holdsTime('o')}
          and o.starts_at > b.starts_at - make_interval(mins => ${MAX_DURATION}) and o.starts_at < b.ends_at
          and o.ends_at > b.starts_at
      ))::int as overlaps`;

const tables = `
    bookings b
    join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
    join users u on u.id = b.user_id
    left join contacts c on c.workspace_id = b.workspace_id and c.id = b.contact_id
    left join rooms r on r.workspace_id = b.workspace_id and r.id = b.room_id`;

const bookingById = statement('read-booking', {
  params: { workspaceId: int, bookingId: int },
  returns: columns,
  sql: `select ${values} from ${tables} where b.workspace_id = $workspaceId and b.id = $bookingId`,
});

const bookingsOf = pagedList('list-bookings', {
  order: byTime('b.starts_at', 'b.id', 'asc'),
  params: {
    workspaceId: int,
    start: time,
    endsAfter: time,
    to: time,
    now: time,
    hostId: nullable(int),
    status: nullable(text),
  },
  returns: { ...columns, ...timeKey },
  sql: ({ after, window }) => `
    select ${values}, ${timeKeyOf('b.starts_at')}
    from ${tables}
    where b.workspace_id = $workspaceId and b.starts_at >= $start and b.starts_at < $to and b.ends_at > $endsAfter
      and (b.confirm_by is null or (b.confirm_by > $now and b.cancelled_at is null))
      and ($hostId is null or b.user_id = $hostId) and ($status is null or $status = ${status})
      ${after}
    ${window}`,
});

/**
 * Reads one page of the list of the workspace's bookings, earliest start first: those of a host, with a status, or all,
 * including cancelled ones. Without `from`, the list begins with the first booking that has not ended. Throws 400 if
 * the range is empty.
 */
export async function listBookings(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId }: Actor,
  { from, to, host_id, status, ...page }: ListBookingsInput,
): Promise<Page<Booking>> {
  const now = clock.now();
  if (to !== undefined && fromUnixSeconds(to) <= (from === undefined ? now : fromUnixSeconds(from)))
    throw badField('to', '`to` must be after `from` (default: now)');
  const end = fromUnixSeconds(to ?? LAST_SECOND);
  const range = { ...toLowerBound(from, now), to: end };
  const filters = { hostId: host_id ?? null, status: status ?? null };
  const params = { workspaceId, ...range, now, ...filters };
  return readPage(db.sql, bookingsOf, params, page, [workspaceId, from, to, host_id, status]);
}

/** Selects the bookings that start at or after `from`. Without `from`, selects the bookings that have not ended. */
function toLowerBound(from: number | undefined, now: Date): { start: Date; endsAfter: Date } {
  if (from !== undefined) return { start: fromUnixSeconds(from), endsAfter: fromUnixSeconds(from) };
  // A lower bound on `starts_at` limits the scan of the index. A booking that started more than `MAX_DURATION` ago has
  // ended.
  return { start: new Date(now.getTime() - MAX_DURATION * MINUTE_MS), endsAfter: now };
}

/** Reads an existing booking, in the transaction that changes it. */
export async function readBooking(sql: Sql, workspaceId: number, bookingId: number): Promise<Booking> {
  return onlyRow(await sql.run(bookingById, { workspaceId, bookingId }));
}
