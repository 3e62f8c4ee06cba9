/**
 * Days and clock changes in a time zone. A local day is represented by its date at midnight UTC, in milliseconds,
 * whatever the zone.
 */
import type { IANAZone } from 'luxon';
import { DAY_MS, MINUTE_MS, SECOND_MS } from './time.ts';
import { findZone } from './time-zones.ts';

/** A period during which the zone's offset from UTC does not change. All times are in milliseconds. */
export type OffsetPeriod = { start: number; end: number; offset: number };

/** How many midnights of a zone are cached: more than 365, because meetings can be booked 365 days ahead. */
const MAX_MIDNIGHTS = 1_000;

const midnightOffsets = new WeakMap<IANAZone, Map<number, number>>();

/** Returns the local day of an instant. */
export function toLocalDay(zone: IANAZone, time: number): number {
  return startOfDay(time + offsetAt(zone, time));
}

/** Parses a date such as 2026-12-24 to a local day. */
export function parseLocalDay(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}

/**
 * Returns the first instant of a local day and the first instant after it. They are equal for a day that the zone skips
 * because it crosses the date line.
 */
export function boundsOfDay(zone: IANAZone, day: number): { start: number; end: number } {
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const period of offsetPeriods(zone, day - 2 * DAY_MS, day + 3 * DAY_MS)) {
    const from = Math.max(period.start, day - period.offset);
    const to = Math.min(period.end, day + DAY_MS - period.offset);
    if (from >= to) continue;
    start = Math.min(start, from);
    end = Math.max(end, to);
  }
  return start < end ? { start, end } : { start: day, end: day };
}

/**
 * Yields the periods between changes of the zone's offset. `start` and `end` must be midnights in UTC, so that the
 * search steps through the same days for every caller, and finds the same changes. Assumes that no zone changes its
 * offset twice in a day.
 */
export function* offsetPeriods(zone: IANAZone, start: number, end: number): Generator<OffsetPeriod> {
  let since = start;
  let offset = offsetAtMidnight(zone, start);
  for (let day = start; day < end; day += DAY_MS) {
    const nextOffset = offsetAtMidnight(zone, day + DAY_MS);
    if (nextOffset === offset) continue;
    const change = findChange(zone, day, day + DAY_MS);
    yield { start: since, end: change, offset };
    since = change;
    offset = nextOffset;
  }
  yield { start: since, end, offset };
}

/**
 * Returns the offset at a midnight in UTC. Caches it, because luxon formats a date to find an offset, which is slow,
 * and most calls need the same days. The cache is keyed by the zone object, because luxon creates only one object for
 * each zone.
 */
function offsetAtMidnight(zone: IANAZone, midnight: number): number {
  const known = midnightOffsets.get(zone);
  const offsets = known === undefined || known.size >= MAX_MIDNIGHTS ? new Map<number, number>() : known;
  if (offsets !== known) midnightOffsets.set(zone, offsets);
  const offset = offsets.get(midnight) ?? offsetAt(zone, midnight);
  offsets.set(midnight, offset);
  return offset;
}

/** Rounds to milliseconds, because luxon returns minutes, with a fraction for zones that once used local mean time. */
function offsetAt(zone: IANAZone, time: number): number {
  return Math.round(zone.offset(time) * MINUTE_MS);
}

/**
 * Returns the first second with the new offset. `start` and `end` are whole seconds; exactly one change lies between
 * them.
 */
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

/** Returns the zone with this name, which was validated when it was stored. */
export function toZone(name: string): IANAZone {
  const zone = findZone(name);
  if (zone === null) throw new Error(`Unknown time zone: ${name}`);
  return zone;
}

export function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}
