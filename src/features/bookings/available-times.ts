/**
 * Finds the times at which a booking page can be booked.
 *
 * A page is open whenever the local time in its time zone lies within one of its intervals. When the clocks go forward,
 * an interval loses the skipped time. When they go back, an interval gains the repeated time, and opens twice if it
 * starts or ends within the repeated hour. Each opening is divided into slots, the first of which starts when it opens.
 */

import { offsetPeriods, startOfDay, toZone } from '../../core/local-days.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import { minutesOfDay, type OpeningHours, weekdays } from '../booking-pages/opening-hours.ts';

/** A half-open range: `endsAt` itself is not taken. */
export type TakenTime = { startsAt: Date; endsAt: Date };

export type Availability = {
  openingHours: OpeningHours;
  /** Length of a slot, in minutes: a positive integer. */
  durationMinutes: number;
  /** Local days on which the page is closed, as returned by `toLocalDay`. */
  closedDays?: ReadonlySet<number>;
  /** In any order. Taken times can overlap. */
  taken: readonly TakenTime[];
  /** How many minutes before its start a slot must be booked. */
  noticeMinutes?: number;
  now: Date;
};

export type AvailableTimesInput = Availability & {
  /** Slots start at or after `from` and before `to`, which is at most 64 days later. */
  from: Date;
  to: Date;
  /** Maximum number of slots; the earliest are returned. */
  maxSlots: number;
};

/**
 * A period during which one interval of one local day is open, in milliseconds. `opensAt` is the local start of the
 * interval and identifies it.
 */
type Opening = { start: number; end: number; opensAt: number };

/** Limits the work of a call. A request can ask for 62 days; the other two are a margin. */
const MAX_WINDOW = 64 * DAY_MS;

/** An opening lies within one local day, which lasts at most 48 hours, even if the zone crosses the date line. */
const MAX_OPENING = 2 * DAY_MS;

/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = weekdays.indexOf('thursday');

/**
 * Returns the starts of the available slots in a window, in ascending order. Slots follow each other without gaps from
 * the start of an opening, and lie entirely within it. They do not depend on the window: a slot is returned for every
 * window that contains its start. A slot starts no earlier than `now` plus the notice. It does not overlap any taken
 * time, but can begin exactly when one ends, or end exactly when one begins. Starts are whole minutes in local time.
 *
 * Throws RangeError if the window is longer than 64 days or has an invalid date, if the duration is not positive, or if
 * the time zone is unknown.
 */
export function findAvailableTimes({ from, to, maxSlots, ...availability }: AvailableTimesInput): Date[] {
  if (!(to.getTime() - from.getTime() <= MAX_WINDOW)) throw new RangeError('The window must be at most 64 days long');
  const starts: Date[] = [];
  for (const slot of availableSlots(availability, from.getTime(), to.getTime())) {
    if (starts.length >= maxSlots) break;
    starts.push(new Date(slot));
  }
  return starts;
}

/** Yields the starts of the available slots at or after `from` and before `to`, in ascending order. */
function* availableSlots(
  { openingHours, durationMinutes, closedDays, taken, noticeMinutes = 0, now }: Availability,
  from: number,
  to: number,
): Generator<number> {
  const duration = durationMinutes * MINUTE_MS;
  if (!(duration > 0)) throw new RangeError('The duration must be positive');
  const earliest = Math.max(from, now.getTime() + noticeMinutes * MINUTE_MS);
  const busy = taken
    .map(({ startsAt, endsAt }) => ({ start: startsAt.getTime(), end: endsAt.getTime() }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  let passed = 0;
  for (const { start, end } of findOpenings(openingHours, from - MAX_OPENING, to + duration, closedDays)) {
    const skipped = Math.max(0, Math.ceil((earliest - start) / duration));
    for (let slot = start + skipped * duration; slot < to && slot + duration <= end; slot += duration) {
      while ((busy[passed]?.end ?? Number.POSITIVE_INFINITY) <= slot) passed += 1;
      // All remaining taken times start later.
      if ((busy[passed]?.start ?? Number.POSITIVE_INFINITY) >= slot + duration) yield slot;
    }
  }
}

/**
 * Returns the openings in ascending order, clipped to the range from the beginning of the UTC day of `start` to the end
 * of the UTC day of `end`.
 */
function findOpenings(
  { time_zone, hours }: OpeningHours,
  start: number,
  end: number,
  closedDays?: ReadonlySet<number>,
): Opening[] {
  const week = weekdays.map((weekday) =>
    hours
      .filter(({ day }) => day === weekday)
      .map(({ from, to }) => ({ from: minutesOfDay(from) * MINUTE_MS, to: minutesOfDay(to) * MINUTE_MS }))
      .sort((a, b) => a.from - b.from),
  );
  const intervalsOf = (midnight: number) => {
    if (closedDays?.has(midnight)) return [];
    // Negative before 1970: `at` then counts from the end of the week.
    const day = (midnight / DAY_MS + EPOCH_WEEKDAY) % weekdays.length;
    return week.at(day) ?? [];
  };
  const openings: Opening[] = [];
  for (const period of offsetPeriods(toZone(time_zone), startOfDay(start), startOfDay(end) + DAY_MS)) {
    const { offset } = period;
    for (let midnight = startOfDay(period.start + offset); midnight < period.end + offset; midnight += DAY_MS) {
      for (const interval of intervalsOf(midnight)) {
        const opensAt = midnight + interval.from;
        const opening = {
          start: Math.max(opensAt - offset, period.start),
          end: Math.min(midnight + interval.to - offset, period.end),
          opensAt,
        };
        if (opening.start >= opening.end) continue;
        const last = openings.at(-1);
        // A change of the offset does not split an opening.
        if (last?.opensAt === opensAt && last.end === opening.start) last.end = opening.end;
        else openings.push(opening);
      }
    }
  }
  return openings;
}

/**
 * Returns whether `startsAt` is the start of a slot that `findAvailableTimes` would return. False for an invalid date.
 */
export function isAvailable(availability: Availability, startsAt: Date): boolean {
  const start = startsAt.getTime();
  return !availableSlots(availability, start, start + 1).next().done;
}
