/** The times that a page offers, regardless of whether its host is free. */
import { conflict } from '../../core/errors.ts';
import { parseLocalDay } from '../../core/local-days.ts';
import { toOpeningHours } from '../booking-pages/present.ts';
import { type Availability, isAvailable } from './available-times.ts';
import { type BookablePage, bookingHorizon } from './bookable-page.ts';

/** Throws 409 if the page does not offer the time, or if the time is beyond the booking horizon. */
export function requireOffered(page: BookablePage, startsAt: Date, now: Date): void {
  const availability = { ...toRules(page), closedDays: toDaysOff(page), taken: [], now };
  if (startsAt > bookingHorizon(now) || !isAvailable(availability, startsAt)) throw notAvailable();
}

/** Returns the rules of the page that apply to every day. */
export function toRules(page: BookablePage): Pick<Availability, 'openingHours' | 'durationMinutes' | 'noticeMinutes'> {
  return {
    openingHours: toOpeningHours(page),
    durationMinutes: page.duration,
    noticeMinutes: page.minimumNotice,
  };
}

/** Returns the dates on which the page is closed, as local days. */
export function toDaysOff({ daysOff }: Pick<BookablePage, 'daysOff'>): Set<number> {
  return new Set(daysOff.map(parseLocalDay));
}

export function notAvailable() {
  return conflict('This time is not available');
}
