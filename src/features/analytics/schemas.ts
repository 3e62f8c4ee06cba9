import { z } from 'zod';
import { bom } from '../../core/byte-order-mark.ts';
import { timeZone } from '../../core/time-zones.ts';
import { count, id, integerFrom, unixSeconds } from '../../core/validation.ts';

const date = z.string().describe('UTC day').meta({ format: 'date', example: '2026-11-20' });

const Kpis = z
  .object({
    rooms: count,
    recordings: count,
    recordingDuration: integerFrom(0).describe('Total duration of all recordings, in seconds'),
    contacts: count,
    bookings: count.describe('Number of contact events of type `booking`'),
  })
  .meta({ id: 'Kpis', description: 'Lifetime counts' });

const ActivityDay = z
  .object({ date, bookings: count, room_joins: count })
  .meta({ id: 'ActivityDay', description: 'Activity on a day with at least one booking or room join' });

const EventTypeCount = z
  .object({ type: z.string().meta({ example: 'room_join' }), count })
  .meta({ id: 'EventTypeCount', description: 'Number of contact events of one type' });

const TopBookingPage = z
  .object({ id, title: z.string(), slug: z.string(), count: count.describe('Lifetime number of bookings') })
  .meta({ id: 'TopBookingPage' });

const ContactsDay = z
  .object({ date, count })
  .meta({ id: 'ContactsDay', description: 'Number of contacts created on a day, at least 1' });

const TopRoom = z
  .object({
    id,
    name: z.string().describe('The slug'),
    display_name: z.string().nullable(),
    count: count.describe('Lifetime number of joins'),
  })
  .meta({ id: 'TopRoom' });

export const Analytics = z
  .object({
    kpis: Kpis,
    activityTimeline: z
      .array(ActivityDay)
      .describe('The last 30 days, oldest first; days without bookings or room joins are omitted'),
    eventTypeBreakdown: z.array(EventTypeCount).describe('Ordered by count, descending'),
    topBookingPages: z.array(TopBookingPage).describe('At most 5, ordered by count, descending'),
    newContactsTimeline: z
      .array(ContactsDay)
      .describe('The last 30 days, oldest first; days without new contacts are omitted'),
    topRooms: z.array(TopRoom).describe('At most 5, ordered by count, descending'),
  })
  .meta({ id: 'Analytics', description: 'The analytics of a workspace' });
export type Analytics = z.infer<typeof Analytics>;

/** A leap year. Also, not more than a chart can show. */
export const MAX_RANGE_DAYS = 366;
export const DEFAULT_RANGE_DAYS = 30;

const day = z.iso
  .date({ error: (issue) => `${issue.path?.join('.')} must be a day such as 2026-11-20` })
  .refine((text) => text >= '1970-01-01', { error: (issue) => `${issue.path?.join('.')} must be 1970-01-01 or later` })
  .meta({ example: '2026-11-20' });

const localDate = z.string().describe('Day in the time zone').meta({ format: 'date', example: '2026-11-20' });

const range = {
  from: day.describe(`First day; default: ${DEFAULT_RANGE_DAYS - 1} days before \`to\``).optional(),
  to: day.describe(`Last day, at most ${MAX_RANGE_DAYS - 1} days after \`from\`; default: today`).optional(),
  time_zone: timeZone
    .default('UTC')
    .describe('Where days begin: an IANA time zone, or an offset such as `+05:30`; default: UTC'),
};

export const AnalyticsRangeInput = z.object({
  ...range,
  compare: z.boolean().default(false).describe('Whether to count the same number of days before `from` too'),
});
export type AnalyticsRangeInput = z.infer<typeof AnalyticsRangeInput>;

export const ExportAnalyticsQuery = z.object({ ...range, bom });
export type ExportAnalyticsQuery = z.infer<typeof ExportAnalyticsQuery>;

const Totals = z
  .object({ bookings: count, room_joins: count, new_contacts: count })
  .meta({ id: 'AnalyticsTotals', description: 'What happened in a range of days' });

const RangeDay = z
  .object({
    date: localDate,
    starts_at: unixSeconds.describe('When the day begins, as a Unix timestamp in seconds'),
    ends_at: unixSeconds.describe('When the day ends (exclusive), as a Unix timestamp in seconds'),
    bookings: count,
    room_joins: count,
    new_contacts: count,
  })
  .meta({ id: 'AnalyticsDay', description: 'What happened on a day' });

const RangeRoom = TopRoom.extend({ count: count.describe('Number of joins in the range') }).meta({ id: 'JoinedRoom' });
const RangePage = TopBookingPage.extend({ count: count.describe('Number of bookings in the range') }).meta({
  id: 'BookedPage',
});

export const AnalyticsRange = z
  .object({
    from: localDate,
    to: localDate,
    time_zone: z.string().meta({ example: 'Europe/Berlin' }),
    totals: Totals,
    days: z.array(RangeDay).describe('Every day of the range, oldest first'),
    event_types: z.array(EventTypeCount).describe('Ordered by count, descending'),
    top_booking_pages: z.array(RangePage).describe('At most 5, ordered by count, descending'),
    top_rooms: z.array(RangeRoom).describe('At most 5, ordered by count, descending'),
    previous: z
      .object({ from: localDate, to: localDate, totals: Totals })
      .nullable()
      .describe('The same number of days before `from`; null without `compare`'),
  })
  .meta({ id: 'AnalyticsRange', description: 'The analytics of a range of days' });
export type AnalyticsRange = z.infer<typeof AnalyticsRange>;
