import { conflict } from '../../core/errors.ts';
import { toOpeningHours } from '../booking-pages/present.ts';
import { isAvailable } from './available-times.ts';
import { type BookablePage, bookingHorizon } from './bookable-page.ts';

/** Throws 409 if the page does not offer the time, or if it is beyond the booking horizon. */
export function requireOffered(page: BookablePage, startsAt: Date, now: Date): void {
  const availability = { openingHours: toOpeningHours(page), durationMinutes: page.duration, taken: [], now };
  if (startsAt > bookingHorizon(now) || !isAvailable(availability, startsAt)) throw notAvailable();
}

export function notAvailable() {
  return conflict('This time is not available');
}
