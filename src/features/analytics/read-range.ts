import type { Actor } from '../../auth/identify.ts';
import { type Clock, toUnixSeconds } from '../../core/time.ts';
import { int, json, type Sql, statement, time, times } from '../../db/statements.ts';
import { type RangeOfDays, toRangeOfDays } from './range-of-days.ts';
import type { AnalyticsRange, AnalyticsRangeInput } from './schemas.ts';

type Dependencies = { db: { sql: Sql }; clock: Clock };

/** The days on which something happened, by their position in the range, which begins with 1. */
type ActiveDay = { day: number; bookings: number; room_joins: number; new_contacts: number };

const MAX_TOP = 5;

const rangeParams = { workspaceId: int, bounds: times, start: time, end: time };

const isInRange = 'workspace_id = $workspaceId and created_at >= $start and created_at < $end';

const activeDays = `
      select day::int as day, coalesce(sum(bookings), 0)::float8 as bookings,
        coalesce(sum(room_joins), 0)::float8 as room_joins,
        sum(new_contacts)::float8 as new_contacts
      from (
        select day, sum(count) filter (where type = 'booking') as bookings,
          sum(count) filter (where type = 'room_join') as room_joins, 0 as new_contacts
        from counted where type in ('booking', 'room_join') group by day
        union all
        select width_bucket(created_at, $bounds) as day, 0, 0, count(*) from contacts where ${isInRange} group by 1) d
      group by day`;

/** Counts events, because the sums by day are of UTC days, and those by subject of the whole lifetime. */
const countRange = statement('count-analytics-range', {
  params: rangeParams,
  returns: {
    days: json<ActiveDay[]>('json'),
    event_types: json<AnalyticsRange['event_types']>('json'),
    top_booking_pages: json<AnalyticsRange['top_booking_pages']>('json'),
    top_rooms: json<AnalyticsRange['top_rooms']>('json'),
  },
  sql: `
    with counted as materialized (
      select type, width_bucket(created_at, $bounds) as day, room_id, booking_page_id, count(*) as count
      from contact_events where ${isInRange} group by 1, 2, 3, 4)
    select
      (select coalesce(json_agg(d), '[]') from (${activeDays}) d) as days,
      (select coalesce(json_agg(t order by t.count desc, t.type collate "C"), '[]')
        from (select type, sum(count)::float8 as count from counted group by type) t) as event_types,
      ${topOf('booking', 'booking_page_id', 'booking_pages', 'title, s.slug')} as top_booking_pages,
      ${topOf('room_join', 'room_id', 'rooms', 'name, s.display_name')} as top_rooms`,
});

/** Returns a subquery for the rows of `table` with the most events of `type`. */
function topOf(type: string, column: string, table: string, columns: string): string {
  return `(select coalesce(json_agg(top order by top.count desc, top.id), '[]') from (
        select s.id, s.${columns}, sum(c.count)::float8 as count
        from counted c join ${table} s on s.workspace_id = $workspaceId and s.id = c.${column}
        where c.type = '${type}' group by s.id, s.${columns}
        order by count desc, s.id limit ${MAX_TOP}) top)`;
}

/**
 * Reads what happened in a range of days, in the time zone of the caller. Counts the events of the range, so the cost
 * grows with the activity in it. Throws 400 for a range that is empty or too long.
 */
export async function readAnalyticsRange(
  services: Dependencies,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  input: AnalyticsRangeInput,
): Promise<AnalyticsRange> {
  const { range, previous } = toRangeOfDays(services, input);
  const [counted, before] = await Promise.all([
    count(services, workspaceId, range),
    previous && count(services, workspaceId, previous),
  ]);
  return {
    ...boundsOf(range),
    time_zone: input.time_zone,
    totals: sum(counted.days),
    days: range.dates.map((date, index) => ({
      date,
      ...secondsOf(range, index),
      ...(counted.days.find(({ day }) => day === index + 1) ?? NOTHING),
    })),
    event_types: counted.event_types,
    top_booking_pages: counted.top_booking_pages,
    top_rooms: counted.top_rooms,
    previous: previous && before && { ...boundsOf(previous), totals: sum(before.days) },
  };
}

const NOTHING = { bookings: 0, room_joins: 0, new_contacts: 0 };

async function count({ db }: Dependencies, workspaceId: number, { bounds }: RangeOfDays) {
  const [start, end] = [bounds[0] ?? new Date(0), bounds.at(-1) ?? new Date(0)];
  const [counted] = await db.sql.run(countRange, { workspaceId, bounds, start, end });
  if (counted === undefined) throw new Error('An aggregate returned no row');
  return counted;
}

function boundsOf({ dates }: RangeOfDays): { from: string; to: string } {
  return { from: dates[0] ?? '', to: dates.at(-1) ?? '' };
}

function secondsOf({ bounds }: RangeOfDays, index: number): { starts_at: number; ends_at: number } {
  const [start, end] = [bounds[index] ?? new Date(0), bounds[index + 1] ?? new Date(0)];
  return { starts_at: toUnixSeconds(start), ends_at: toUnixSeconds(end) };
}

function sum(days: readonly ActiveDay[]): AnalyticsRange['totals'] {
  return days.reduce(
    (total, day) => ({
      bookings: total.bookings + day.bookings,
      room_joins: total.room_joins + day.room_joins,
      new_contacts: total.new_contacts + day.new_contacts,
    }),
    NOTHING,
  );
}
