/**
 * The times at which a booking page can be booked.
 *
 * A page is open whenever the local time in its time zone lies within one of its intervals. When clocks go forward, an
 * interval loses the skipped time. When they go back, it gains the repeated time, and an interval that starts or ends
 * within the repeated hour opens twice. Each opening is divided into slots, starting at its first instant.
 */
import { IANAZone } from 'luxon';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { minutesOfDay, type OpeningHours, weekdays } from '../booking-pages/opening-hours.ts';

/** Half-open: `endsAt` itself is not taken. */
export type TakenTime = { startsAt: Date; endsAt: Date };

export type Availability = {
  openingHours: OpeningHours;
  /** Length of a slot, in minutes: a positive integer. */
  durationMinutes: number;
  /** In any order; may overlap. */
  taken: readonly TakenTime[];
  now: Date;
};

export type AvailableTimesInput = Availability & {
  /** The window: slots start at or after `from` and before `to`, which is at most 64 days later. */
  from: Date;
  to: Date;
  /** Maximum number of slots; the earliest are returned. */
  maxSlots: number;
};

/** A period in which the zone's offset from UTC does not change. All times below are in milliseconds. */
type OffsetPeriod = { start: number; end: number; offset: number };

/** A period in which one interval of one local day is open. `opensAt`, its local start, identifies the interval. */
type Opening = { start: number; end: number; opensAt: number };

/** Limits the work of a call. A request may ask for 62 days; the rest is a margin. */
const MAX_WINDOW = 64 * DAY_MS;

/** An opening lies within one local day, which lasts at most 48 hours, even if the zone crosses the date line. */
const MAX_OPENING = 2 * DAY_MS;

/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = weekdays.indexOf('thursday');

/**
 * Returns the starts of the available slots in a window, in ascending order. Slots follow each other from the first
 * instant of an opening and lie entirely within it. They do not depend on the window: a slot in one window is in every
 * window that contains its start. A slot starts at or after `now` and does not overlap any taken time, but may begin
 * exactly where one ends, or end exactly where one begins. Starts are whole minutes in local time.
 *
 * The window limits the work. Throws RangeError if the window has more than 64 days or an invalid date, if the duration
 * is not positive, or if the time zone is unknown.
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
  { openingHours, durationMinutes, taken, now }: Availability,
  from: number,
  to: number,
): Generator<number> {
  const duration = durationMinutes * MINUTE_MS;
  if (!(duration > 0)) throw new RangeError('The duration must be positive');
  const earliest = Math.max(from, now.getTime());
  const busy = taken
    .map(({ startsAt, endsAt }) => ({ start: startsAt.getTime(), end: endsAt.getTime() }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  let passed = 0;
  for (const { start, end } of findOpenings(openingHours, from - MAX_OPENING, to + duration)) {
    const skipped = Math.max(0, Math.ceil((earliest - start) / duration));
    for (let slot = start + skipped * duration; slot < to && slot + duration <= end; slot += duration) {
      while ((busy[passed]?.end ?? Number.POSITIVE_INFINITY) <= slot) passed += 1;
      // All remaining taken times start even later.
      if ((busy[passed]?.start ?? Number.POSITIVE_INFINITY) >= slot + duration) yield slot;
    }
  }
}

/**
 * Returns the openings in ascending order, clipped to the range from the beginning of the UTC day of `start` to the end
 * of the UTC day of `end`.
 */
function findOpenings({ time_zone, hours }: OpeningHours, start: number, end: number): Opening[] {
  const week = weekdays.map((weekday) =>
    hours
      .filter(({ day }) => day === weekday)
      .map(({ from, to }) => ({ from: minutesOfDay(from) * MINUTE_MS, to: minutesOfDay(to) * MINUTE_MS }))
      .sort((a, b) => a.from - b.from),
  );
  const intervalsOf = (midnight: number) => {
    // Before 1970 this is negative, and `at` counts from the end of the week.
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
        // An offset change while the page is open does not split the opening.
        if (last?.opensAt === opensAt && last.end === opening.start) last.end = opening.end;
        else openings.push(opening);
      }
    }
  }
  return openings;
}

/**
 * Yields the periods between changes of the zone's offset. `start` and `end` are midnights in UTC, so that every window
 * finds the same changes. No zone changes its offset twice in one day.
 */
function* offsetPeriods(zone: IANAZone, start: number, end: number): Generator<OffsetPeriod> {
  let since = start;
  let offset = offsetAt(zone, start);
  for (let day = start; day < end; day += DAY_MS) {
    const nextOffset = offsetAt(zone, day + DAY_MS);
    if (nextOffset === offset) continue;
    const change = findChange(zone, day, day + DAY_MS);
    yield { start: since, end: change, offset };
    since = change;
    offset = nextOffset;
  }
  yield { start: since, end, offset };
}

/** Rounded, because luxon returns minutes, with a fraction for zones that once used local mean time. */
function offsetAt(zone: IANAZone, time: number): number {
  return Math.round(zone.offset(time) * MINUTE_MS);
}

/** Returns the first second with the new offset. `start` and `end` are whole seconds, with one change between them. */
function findChange(zone: IANAZone, start: number, end: number): number {
  const offset = offsetAt(zone, start);
  let before = start;
  let after = end;
  while (after - before > SECOND_MS) {
    const middle = before + Math.floor((after - before) / 2 / SECOND_MS) * SECOND_MS;
    if (offsetAt(zone, middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

/**
 * Normalizes the name first: luxon permanently caches every spelling that it sees, and callers may use any letter case.
 */
function toZone(name: string): IANAZone {
  return IANAZone.create(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone);
}

function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

/**
 * Whether `startsAt` is the start of an available slot, as returned by `findAvailableTimes`. False for an invalid date.
 */
export function isAvailable(availability: Availability, startsAt: Date): boolean {
  const start = startsAt.getTime();
  return !availableSlots(availability, start, start + 1).next().done;
}
