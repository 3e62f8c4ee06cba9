import { badField } from '../../core/errors.ts';
import { DAY_MS, fromUnixSeconds, MINUTE_MS, toUnixSeconds } from '../../core/time.ts';
import type { Services } from '../../services.ts';
import { toBranding } from '../branding/public-branding.ts';
import { findAvailableTimes } from './available-times.ts';
import { type BookablePage, bookingHorizon, findBookablePage, listTakenTimes } from './bookable-page.ts';
import { findMeetingByToken } from './find-meeting.ts';
import { toDaysOff, toRules } from './offered-times.ts';
import type { TimesAnswer, TimesInput, TimesToMoveInput } from './schemas.ts';

type Needs = Pick<Services, 'db' | 'clock'>;

type Range = Pick<TimesInput, 'from' | 'to'>;

const MAX_DAYS = 62;
const DEFAULT_DAYS = 14;

/**
 * Lists the times within a range at which a meeting can be booked, up to 365 days from now. Throws 400 if the range is
 * empty or too long, and 404 "Booking page not found". `origin` is that of the URL of the logo.
 */
export async function listAvailableTimes(
  services: Needs,
  { slug, ...range }: TimesInput,
  origin: string,
): Promise<TimesAnswer> {
  return listTimes(services, { range, origin }, async () => ({ page: await findBookablePage(services.db.sql, slug) }));
}

/**
 * Lists the times to which the meeting with this token can be moved, as `listAvailableTimes` does. The meeting itself
 * does not block any times and does not count toward the limit per day, so its current time is included. The slug in
 * the path is ignored. Throws 404 "Booking not found".
 */
export async function listTimesToMove(
  services: Needs,
  { token, ...range }: TimesToMoveInput,
  origin: string,
): Promise<TimesAnswer> {
  const { sql } = services.db;
  return listTimes(services, { range, origin }, async () => {
    const meeting = await findMeetingByToken(sql, token);
    return { page: await findBookablePage(sql, meeting.slug), exceptId: meeting.id };
  });
}

async function listTimes(
  { db, clock }: Needs,
  { range, origin }: { range: Range; origin: string },
  find: () => Promise<{ page: BookablePage; exceptId?: number }>,
): Promise<TimesAnswer> {
  const now = clock.now();
  const { from, to: end } = toRange(range, now);
  const { page, exceptId } = await find();
  // Add a millisecond, because `to` is exclusive, but the horizon itself can be booked.
  const to = new Date(Math.min(end.getTime(), bookingHorizon(now).getTime() + 1));
  const { taken, fullDays } = await listTakenTimes(db.sql, page, {
    from,
    to: new Date(to.getTime() + page.duration * MINUTE_MS),
    now,
    exceptId,
  });
  const times = findAvailableTimes({
    ...toRules(page),
    closedDays: new Set([...toDaysOff(page), ...fullDays]),
    taken,
    now,
    from,
    to,
    // The range already limits the number of slots: about 18,000 for the shortest meetings.
    maxSlots: Number.POSITIVE_INFINITY,
  });
  return {
    page: {
      title: page.title,
      description: page.description,
      host_name: page.userName,
      slug: page.slug,
      duration_minutes: page.duration,
      time_zone: page.timeZone,
      branding: toBranding(page.branding, origin),
    },
    times: times.map(toUnixSeconds),
  };
}

/** Applies the defaults. Throws 400 if the range is empty or too long. */
function toRange({ from, to }: Range, now: Date): { from: Date; to: Date } {
  const start = from === undefined ? now : fromUnixSeconds(from);
  const end = to === undefined ? new Date(start.getTime() + DEFAULT_DAYS * DAY_MS) : fromUnixSeconds(to);
  if (end <= start || end.getTime() - start.getTime() > MAX_DAYS * DAY_MS)
    throw badField('to', `\`to\` must be after \`from\` and at most ${MAX_DAYS} days later`);
  return { from: start, to: end };
}
