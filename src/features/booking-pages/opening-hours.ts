/** The opening hours of a booking page: intervals of the week in local time. */
import { z } from 'zod';
import { timeZoneError as error, timeZoneExample as example, isTimeZone, timeZone } from '../../core/time-zones.ts';
import { fieldOf } from '../../core/validation.ts';

/** In the order of ISO 8601, in which the week starts on Monday. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

const MAX_INTERVALS = 50;

/** What a browser says that does not know its zone: the name of Unicode's CLDR, which `Intl` does not accept. */
const UNKNOWN_ZONE = 'Etc/Unknown';

/** The time zone that a guest's browser tells. Null if the browser does not know it. */
export const viewerTimeZone = z
  .string()
  .refine((name) => name === UNKNOWN_ZONE || isTimeZone(name), { error })
  .describe('Time zone of the guest: an IANA time zone, or an offset such as `+05:30`. `Etc/Unknown` is not stored')
  .meta({ example })
  .transform((name) => (name === UNKNOWN_ZONE ? null : name));

const from = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, {
    error: (issue) => `${fieldOf(issue)} must be a time of day such as 09:00, from 00:00 to 23:59`,
  })
  .describe('Local time at which the page opens, HH:MM')
  .meta({ example: '09:00' });

const to = z
  .string()
  .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, {
    error: (issue) => `${fieldOf(issue)} must be a time of day such as 17:00, from 00:00 to 24:00`,
  })
  .describe('Local time at which the page closes on the same day, HH:MM; 24:00 is midnight at the end of the day')
  .meta({ example: '17:00' });

const WeeklyInterval = z
  .object({ day: z.enum(weekdays), from, to })
  // Times in the format HH:MM can be compared as strings.
  .refine((interval) => interval.from < interval.to, {
    error: (issue) => `${fieldOf(issue)} must be before ${fieldOf(issue).replace(/from$/, 'to')}`,
    path: ['from'],
  })
  .meta({ id: 'WeeklyInterval', description: 'A period on one day of the week during which the page is open' });
export type WeeklyInterval = z.infer<typeof WeeklyInterval>;

/**
 * At most 50 intervals per week, none of which crosses midnight. A page without intervals is closed. Overlapping
 * intervals are rejected rather than merged: slots start at the beginning of an interval, so merging would silently
 * move them.
 */
export const OpeningHours = z
  .object({
    time_zone: timeZone.describe('IANA time zone of the opening hours, or an offset such as `+05:30`'),
    hours: z
      .array(WeeklyInterval)
      .max(MAX_INTERVALS)
      .superRefine((hours, context) => {
        const overlap = findOverlap(hours);
        if (overlap === undefined) return;
        const [earlier, later] = overlap.map(describeInterval);
        context.addIssue({ code: 'custom', message: `hours must not overlap: ${earlier} and ${later}` });
      })
      .describe('At most 50 intervals in any order, which must not overlap. An empty list closes the page'),
  })
  .meta({ id: 'OpenHours', description: 'The hours during which a page can be booked' });
export type OpeningHours = z.infer<typeof OpeningHours>;

/** Converts HH:MM to minutes since midnight. */
export function minutesOfDay(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function describeInterval(interval: WeeklyInterval): string {
  return `${interval.day} ${interval.from}-${interval.to}`;
}

/** Returns two overlapping intervals, if there are any. Adjacent intervals do not overlap. */
function findOverlap(hours: readonly WeeklyInterval[]): readonly [WeeklyInterval, WeeklyInterval] | undefined {
  for (const day of weekdays) {
    const intervals = hours.filter((interval) => interval.day === day).sort((a, b) => a.from.localeCompare(b.from));
    for (const [index, later] of intervals.entries()) {
      const earlier = intervals[index - 1];
      if (earlier !== undefined && later.from < earlier.to) return [earlier, later];
    }
  }
  return undefined;
}
