/** The days that a call asks for, and when each begins. */
import { badField } from '../../core/errors.ts';
import { boundsOfDay, parseLocalDay, toLocalDay, toZone } from '../../core/local-days.ts';
import { type Clock, DAY_MS } from '../../core/time.ts';
import { type AnalyticsRangeInput, DEFAULT_RANGE_DAYS, MAX_RANGE_DAYS } from './schemas.ts';

export type RangeOfDays = {
  /** The dates of the days, oldest first. */
  dates: string[];
  /** When each day begins, and when the last one ends. A day that the zone skips ends when it begins. */
  bounds: Date[];
};

/**
 * Returns the days of a range and, with `compare`, the same number of days before it. Throws 400 for `to` or `from` if
 * the range is empty or longer than `MAX_RANGE_DAYS`.
 */
export function toRangeOfDays(
  { clock }: { clock: Clock },
  { from, to, time_zone, compare }: Pick<AnalyticsRangeInput, 'from' | 'to' | 'time_zone' | 'compare'>,
): { range: RangeOfDays; previous: RangeOfDays | null } {
  const zone = toZone(time_zone);
  const last = to === undefined ? toLocalDay(zone, clock.now().getTime()) : parseLocalDay(to);
  const first = from === undefined ? last - (DEFAULT_RANGE_DAYS - 1) * DAY_MS : parseLocalDay(from);
  const length = Math.round((last - first) / DAY_MS) + 1;
  if (length < 1 && to === undefined) throw badField('from', 'from must not be after today');
  if (length < 1) throw badField('to', 'to must not be before from');
  if (length > MAX_RANGE_DAYS) throw badField('from', `from must be at most ${MAX_RANGE_DAYS - 1} days before to`);
  const toRange = (start: number): RangeOfDays => {
    const days = Array.from({ length }, (_, index) => start + index * DAY_MS);
    // Of the day before, so that a skipped first day begins where it would have.
    const bounds = [boundsOfDay(zone, start - DAY_MS).end];
    // Days overlap where clocks are set back over midnight: the hour that comes twice counts for the earlier day.
    for (const day of days) bounds.push(Math.max(bounds.at(-1) ?? day, boundsOfDay(zone, day).end));
    return { dates: days.map(toDate), bounds: bounds.map((bound) => new Date(bound)) };
  };
  return { range: toRange(first), previous: compare ? toRange(first - length * DAY_MS) : null };
}

function toDate(day: number): string {
  return new Date(day).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
