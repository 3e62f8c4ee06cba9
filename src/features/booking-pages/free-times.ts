/**
 * Which times of a booking page can be booked.
 *
 * A page is open at an instant when the clocks of its zone then show a time within one of its intervals. So a jump
 * forward takes time out of an interval, a repeated hour adds some, and where an interval begins or ends within the
 * hour that is repeated, it opens twice. Each opening is cut into slots of real time from its first instant on.
 */
import { IANAZone } from 'luxon';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { minutesOfDay, type OpenHours, weekdays } from './open-hours.ts';

/** From `startsAt` until just before `endsAt`. */
export type TakenTime = { startsAt: Date; endsAt: Date };

export type BookableHours = {
  openHours: OpenHours;
  /** Length of a slot, in minutes: a positive integer. */
  durationMinutes: number;
  /** In any order; may overlap. */
  taken: readonly TakenTime[];
  now: Date;
};

export type FreeTimesInput = BookableHours & {
  /** The window: slots that start at or after `from` and before `to`, at most 64 days later. */
  from: Date;
  to: Date;
  /** No more slots than this: the earliest ones. */
  maxSlots: number;
};

/** Real time in which the zone's clocks are `offset` ahead of UTC. All times below are in milliseconds. */
type EvenStretch = { start: number; end: number; offset: number };

/** Real time in which one interval of one local day is open; `opensAt` is its begin on the clocks, and names it. */
type Opening = { start: number; end: number; opensAt: number };

/** 62 days by any calendar, and what clocks and date lines shift: more is a mistake of the caller. */
const MAX_WINDOW = 64 * DAY_MS;

/** No opening lasts longer: it is a part of one local day, of which a date line makes two at most. */
const MAX_OPENING = 2 * DAY_MS;

/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = weekdays.indexOf('thursday');

/**
 * The starts of the free slots of a window, ascending. Slots are cut from the first instant of each opening in steps of
 * the duration, wholly within it, whatever the window: an instant is a slot's start in each window that holds it, or in
 * none. A slot starts at or after `now` and overlaps nothing that is taken; what only touches it does not matter.
 * Starts are whole minutes of the page's clocks.
 *
 * Work is bounded by the window. Throws RangeError, which is a mistake of the caller, for a window of more than 64 days,
 * an invalid date in it, a duration that is not positive and an unknown time zone.
 */
export function freeTimes({ from, to, maxSlots, ...hours }: FreeTimesInput): Date[] {
  if (!(to.getTime() - from.getTime() <= MAX_WINDOW)) throw new RangeError('The window must have at most 64 days');
  const starts: Date[] = [];
  for (const slot of freeSlots(hours, from.getTime(), to.getTime())) {
    if (starts.length >= maxSlots) break;
    starts.push(new Date(slot));
  }
  return starts;
}

/** The free slots that start at or after `from` and before `to`, ascending. */
function* freeSlots(
  { openHours, durationMinutes, taken, now }: BookableHours,
  from: number,
  to: number,
): Generator<number> {
  const duration = durationMinutes * MINUTE_MS;
  if (!(duration > 0)) throw new RangeError('A slot must last longer than nothing');
  const earliest = Math.max(from, now.getTime());
  const busy = taken
    .map(({ startsAt, endsAt }) => ({ start: startsAt.getTime(), end: endsAt.getTime() }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  let passed = 0;
  for (const { start, end } of findOpenings(openHours, from - MAX_OPENING, to + duration)) {
    const skipped = Math.max(0, Math.ceil((earliest - start) / duration));
    for (let slot = start + skipped * duration; slot < to && slot + duration <= end; slot += duration) {
      while ((busy[passed]?.end ?? Number.POSITIVE_INFINITY) <= slot) passed += 1;
      // Those behind it start later still.
      if ((busy[passed]?.start ?? Number.POSITIVE_INFINITY) >= slot + duration) yield slot;
    }
  }
}

/** Ascending. Only what opens or closes outside of `start` to `end` is cut there. */
function findOpenings({ time_zone, hours }: OpenHours, start: number, end: number): Opening[] {
  const week = weekdays.map((weekday) =>
    hours
      .filter(({ day }) => day === weekday)
      .map(({ from, to }) => ({ from: minutesOfDay(from) * MINUTE_MS, to: minutesOfDay(to) * MINUTE_MS }))
      .sort((a, b) => a.from - b.from),
  );
  const intervalsOf = (midnight: number) => {
    // Negative before 1970, which `at` counts from the end of the week.
    const day = (midnight / DAY_MS + EPOCH_WEEKDAY) % weekdays.length;
    return week.at(day) ?? [];
  };
  const openings: Opening[] = [];
  for (const stretch of evenStretches(zoneNamed(time_zone), startOfDay(start), startOfDay(end) + DAY_MS)) {
    const { offset } = stretch;
    for (let midnight = startOfDay(stretch.start + offset); midnight < stretch.end + offset; midnight += DAY_MS) {
      for (const interval of intervalsOf(midnight)) {
        const opensAt = midnight + interval.from;
        const opening = {
          start: Math.max(opensAt - offset, stretch.start),
          end: Math.min(midnight + interval.to - offset, stretch.end),
          opensAt,
        };
        if (opening.start >= opening.end) continue;
        const last = openings.at(-1);
        // Clocks that change while a page is open do not close it.
        if (last?.opensAt === opensAt && last.end === opening.start) last.end = opening.end;
        else openings.push(opening);
      }
    }
  }
  return openings;
}

/** `start` and `end` begin days of UTC, so that every window sees the same changes. No zone has two in one day. */
function* evenStretches(zone: IANAZone, start: number, end: number): Generator<EvenStretch> {
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

/** Rounded: luxon gives minutes, which are fractions where a zone kept the mean time of its longitude. */
function offsetAt(zone: IANAZone, time: number): number {
  return Math.round(zone.offset(time) * MINUTE_MS);
}

/** The first second with another offset than at `start`, for whole seconds between which the offset changes once. */
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

/** luxon keeps each name that it meets for good, and names come from callers in any mix of upper and lower case. */
function zoneNamed(name: string): IANAZone {
  return IANAZone.create(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone);
}

function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

/** Whether `startsAt` is the start of a free slot: whether `freeTimes` would give it. False for an invalid date. */
export function isBookable(hours: BookableHours, startsAt: Date): boolean {
  const start = startsAt.getTime();
  return !freeSlots(hours, start, start + 1).next().done;
}
