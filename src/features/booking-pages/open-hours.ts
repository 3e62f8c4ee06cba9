/** When a booking page can be booked: hours of the week on the clocks of one time zone. */
import { IANAZone } from 'luxon';
import { z } from 'zod';
import { fieldOf } from '../../core/validation.ts';

/** In the order of ISO 8601: a week begins on Monday. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

const MAX_INTERVALS = 50;

/** What names of the IANA database are made of. Node also takes fixed offsets such as +01:00, which know no summer. */
const ZONE_NAME = /^[A-Za-z][\w+/-]{0,63}$/;

const timeZone = z
  .string()
  .refine((name) => ZONE_NAME.test(name) && IANAZone.isValidZone(name), {
    error: 'time_zone must be an IANA time zone such as Europe/Berlin',
  })
  .describe('IANA time zone, in which the hours are meant')
  .meta({ example: 'Europe/Berlin' });

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

const OpenInterval = z
  .object({ day: z.enum(weekdays), from, to })
  // As text: times of one form sort like the times they name.
  .refine((interval) => interval.from < interval.to, {
    error: (issue) => `${fieldOf(issue)} must be before to`,
    path: ['from'],
  });
export type OpenInterval = z.infer<typeof OpenInterval>;

/**
 * The open hours of a booking page: at most 50 intervals a week, none of which runs over midnight; no interval at all
 * closes the page. Intervals that overlap are refused rather than merged: slots are counted from where an interval
 * opens, so merging would silently move them.
 */
export const OpenHours = z
  .object({
    time_zone: timeZone,
    hours: z
      .array(OpenInterval)
      .max(MAX_INTERVALS)
      .superRefine((hours, context) => {
        const overlap = findOverlap(hours);
        if (overlap === undefined) return;
        const [earlier, later] = overlap.map(describeInterval);
        context.addIssue({ code: 'custom', message: `hours must not overlap: ${earlier} and ${later}` });
      })
      .describe('At most 50 intervals that do not overlap, in any order; empty: closed'),
  })
  .meta({ id: 'OpenHours', description: 'The hours of the week in which a page can be booked' });
export type OpenHours = z.infer<typeof OpenHours>;

/** Minutes from midnight to a time of the form HH:MM, as clocks show it. */
export function minutesOfDay(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function describeInterval(interval: OpenInterval): string {
  return `${interval.day} ${interval.from}-${interval.to}`;
}

/** Two intervals that share a time of the week, if any do. Such that only touch do not. */
function findOverlap(hours: readonly OpenInterval[]): readonly [OpenInterval, OpenInterval] | undefined {
  for (const day of weekdays) {
    const intervals = hours.filter((interval) => interval.day === day).sort((a, b) => a.from.localeCompare(b.from));
    for (const [index, later] of intervals.entries()) {
      const earlier = intervals[index - 1];
      if (earlier !== undefined && later.from < earlier.to) return [earlier, later];
    }
  }
  return undefined;
}
