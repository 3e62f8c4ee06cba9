/** The opening hours of a booking page, as they are edited. */
import type { Outputs } from '@lynxroom/client';

export type BookingPage = Outputs['bookingPages']['list']['bookingPages'][number];
export type Hours = BookingPage['hours'];
export type Day = Hours[number]['day'];

/** A period of one day. `key` tells periods apart while they change. */
export type Period = { key: number; from: string; to: string };
export type Week = Record<Day, readonly Period[]>;

export const days: readonly { day: Day; label: string }[] = [
  { day: 'monday', label: 'Monday' },
  { day: 'tuesday', label: 'Tuesday' },
  { day: 'wednesday', label: 'Wednesday' },
  { day: 'thursday', label: 'Thursday' },
  { day: 'friday', label: 'Friday' },
  { day: 'saturday', label: 'Saturday' },
  { day: 'sunday', label: 'Sunday' },
];

export const officeHours: Hours = days.slice(0, 5).map(({ day }) => ({ day, from: '09:00', to: '17:00' }));

/** A control for times cannot show 24:00, so the end of a day is 00:00 in it. */
const MIDNIGHT = '24:00';
const SHOWN_MIDNIGHT = '00:00';

let lastKey = 0;

export function toWeek(hours: Hours): Week {
  const periodsOf = (wanted: Day): Period[] =>
    hours
      .filter(({ day }) => day === wanted)
      .toSorted((a, b) => a.from.localeCompare(b.from))
      .map(({ from, to }) => toPeriod(from, to === MIDNIGHT ? SHOWN_MIDNIGHT : to));
  return makeWeek(periodsOf);
}

export function makeWeek(periodsOf: (day: Day) => readonly Period[]): Week {
  return {
    monday: periodsOf('monday'),
    tuesday: periodsOf('tuesday'),
    wednesday: periodsOf('wednesday'),
    thursday: periodsOf('thursday'),
    friday: periodsOf('friday'),
    saturday: periodsOf('saturday'),
    sunday: periodsOf('sunday'),
  };
}

export function toHours(week: Week): Hours {
  return days.flatMap(({ day }) => week[day].map(({ from, to }) => ({ day, from, to: toEnd(to) })));
}

export function toPeriod(from: string, to: string): Period {
  lastKey += 1;
  return { key: lastKey, from, to };
}

/** Another period of a day: an hour after the last, or office hours. */
export function nextPeriod(periods: readonly Period[]): Period {
  const last = periods.at(-1);
  if (last === undefined) return toPeriod('09:00', '17:00');
  const hour = Number(toEnd(last.to).slice(0, 2)) + 1;
  // The day has no room for another, or the last has no end yet.
  if (!(hour <= 22)) return toPeriod('', '');
  const format = (value: number): string => `${String(value).padStart(2, '0')}:00`;
  return toPeriod(format(hour), format(Math.min(hour + 2, 23)));
}

/** Says what is wrong with the periods of a day; null if they are fine. */
export function findProblem(periods: readonly Period[]): string | null {
  if (periods.some(({ from, to }) => from === '' || to === '')) return 'Enter both times';
  if (periods.some(({ from, to }) => from >= toEnd(to))) return 'The end must be after the start';
  const sorted = periods.toSorted((a, b) => a.from.localeCompare(b.from));
  const isOverlapping = sorted.some(({ from }, index) => {
    const before = sorted[index - 1];
    return before !== undefined && from < toEnd(before.to);
  });
  return isOverlapping ? 'The times overlap' : null;
}

/** `Mon, Tue, Fri`, or that the page is closed. */
export function summarizeDays(hours: Hours): string {
  const open = days.filter(({ day }) => hours.some((interval) => interval.day === day));
  if (open.length === 0) return 'Closed';
  if (open.length === days.length) return 'Every day';
  return open.map(({ label }) => label.slice(0, 3)).join(', ');
}

function toEnd(to: string): string {
  return to === SHOWN_MIDNIGHT ? MIDNIGHT : to;
}
