/** Looks up a booking page by its slug, and the times at which its host is busy. */
import { notFound } from '../../core/errors.ts';
import { toLocalDay, toZone } from '../../core/local-days.ts';
import { readSlug } from '../../core/slugs.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, int, json, nullable, type RowOf, type Sql, statement, text, texts, time } from '../../db/statements.ts';
import { holdsTime } from '../booking-pages/host-calendar.ts';
import { MAX_BUFFER, MAX_DURATION } from '../booking-pages/schemas.ts';
import { type BrandingRow, brandingOf } from '../branding/public-branding.ts';
import type { TakenTime } from './available-times.ts';

const HORIZON_DAYS = 365;

const pageBySlug = statement('find-bookable-page', {
  params: { slug: text },
  returns: {
    id: int,
    workspaceId: int,
    userId: int,
    userName: text,
    userEmail: text,
    title: text,
    description: nullable(text),
    slug: text,
    duration: int,
    timeZone: text,
    hours: json<unknown>(),
    minimumNotice: int,
    bufferBefore: int,
    bufferAfter: int,
    maxPerDay: nullable(int),
    daysOff: texts,
    confirmEmail: bool,
    notifyHost: bool,
    reminderMinutes: nullable(int),
    branding: json<BrandingRow>('json'),
    version: text,
  },
  sql: `
    select p.id, p.workspace_id as "workspaceId", p.user_id as "userId", u.name as "userName",
      u.email as "userEmail", p.title, p.description, p.slug, p.duration, p.time_zone as "timeZone", p.hours,
      p.minimum_notice as "minimumNotice", p.buffer_before as "bufferBefore", p.buffer_after as "bufferAfter",
      p.max_per_day as "maxPerDay", p.days_off as "daysOff", p.confirm_email as "confirmEmail",
      p.notify_host as "notifyHost", p.reminder_minutes as "reminderMinutes", ${brandingOf('w')} as branding,
      p.xmin::text as version
    from booking_pages p join users u on u.id = p.user_id join workspaces w on w.id = p.workspace_id
    where p.slug = $slug`,
});

/**
 * Returns a single row, because the calendar of a busy host has thousands of bookings, and each row would take several
 * microseconds of CPU. `earliest` and `latest` limit the scan of the index, which is on `starts_at`. The gap between
 * two meetings is the buffer after the first or the buffer before the second, whichever is longer. `starts` contains
 * the starts of the meetings on the page `countedPageId`. The statement ignores the meeting `exceptId`; 0 ignores none,
 * because IDs begin with 1.
 */
const takenTimes = statement('list-taken-times', {
  params: {
    userId: int,
    bufferBefore: int,
    bufferAfter: int,
    workspaceId: int,
    countedPageId: nullable(int),
    earliest: time,
    latest: time,
    exceptId: int,
    now: time,
  },
  returns: { times: json<[startsAt: number, endsAt: number][]>('json'), starts: json<number[]>('json') },
  sql: `
    select
      coalesce(json_agg(array[
        extract(epoch from starts_at) - 60 * greatest(buffer_before, $bufferAfter),
        extract(epoch from ends_at) + 60 * greatest(buffer_after, $bufferBefore)]), '[]') as times,
      coalesce(json_agg(extract(epoch from starts_at))
        filter (where workspace_id = $workspaceId and booking_page_id = $countedPageId), '[]') as starts
    from bookings b
    where user_id = $userId and cancelled_at is null and starts_at > $earliest and starts_at < $latest
      and id <> $exceptId and (confirm_by is null or confirm_by > $now) and ${holdsTime('b')}`,
});

/** `userId`, `userName` and `userEmail` describe the host. Every change to the page changes `version`. */
export type BookablePage = RowOf<typeof pageBySlug>;

/** Returns the latest time for which a meeting can be booked now. */
export function bookingHorizon(now: Date): Date {
  return new Date(now.getTime() + HORIZON_DAYS * DAY_MS);
}

/** Finds the page that has this slug. Throws 404 "Booking page not found". */
export async function findBookablePage(sql: Sql, pageSlug: string): Promise<BookablePage> {
  // Visitors can send any string as a slug, including strings that PostgreSQL does not accept.
  const slug = readSlug(pageSlug);
  if (slug === null) throw notFound('Booking page');
  const [page] = await sql.run(pageBySlug, { slug });
  if (!page) throw notFound('Booking page');
  return page;
}

/**
 * Lists the times between `from` and `to` that are not available for a meeting of the page. `taken` contains the host's
 * other meetings that are not cancelled, with their buffers, on all pages in all workspaces. `fullDays` contains the
 * local days on which the page has reached its limit of meetings. The meeting `exceptId` is ignored.
 */
export async function listTakenTimes(
  sql: Sql,
  { id, workspaceId, userId, bufferBefore, bufferAfter, maxPerDay, timeZone }: BookablePage,
  { from, to, now, exceptId = 0 }: { from: Date; to: Date; now: Date; exceptId?: number | undefined },
): Promise<{ taken: TakenTime[]; fullDays: Set<number> }> {
  // Covers the buffers, or a whole local day, which lasts at most 48 hours.
  const margin = maxPerDay === null ? MAX_BUFFER * MINUTE_MS : 2 * DAY_MS;
  const { times, starts } = onlyRow(
    await sql.run(takenTimes, {
      userId,
      bufferBefore,
      bufferAfter,
      workspaceId,
      countedPageId: maxPerDay === null ? null : id,
      earliest: new Date(from.getTime() - MAX_DURATION * MINUTE_MS - margin),
      latest: new Date(to.getTime() + margin),
      exceptId,
      now,
    }),
  );
  const taken = times.map(([startsAt, endsAt]) => ({ startsAt: toDate(startsAt), endsAt: toDate(endsAt) }));
  return { taken, fullDays: findFullDays(starts.map(toDate), timeZone, maxPerDay) };
}

function findFullDays(starts: readonly Date[], timeZone: string, maxPerDay: number | null): Set<number> {
  if (maxPerDay === null) return new Set();
  const zone = toZone(timeZone);
  const counts = new Map<number, number>();
  for (const start of starts) {
    const day = toLocalDay(zone, start.getTime());
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count >= maxPerDay).map(([day]) => day));
}

function toDate(seconds: number): Date {
  return new Date(Math.round(seconds * 1000));
}
