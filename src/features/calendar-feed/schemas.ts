import { z } from 'zod';
import { unixSeconds } from '../../core/validation.ts';

const CalendarFeed = z
  .object({ created_at: unixSeconds })
  .meta({ id: 'CalendarFeed', description: 'A calendar feed with the bookings of a host' });
export type CalendarFeed = z.infer<typeof CalendarFeed>;

const NewCalendarFeed = CalendarFeed.extend({
  url: z
    .string()
    .describe(
      'The address for calendar programs. Only this response contains it. Anyone with the address can read the ' +
        'bookings, including the names and email addresses of the guests',
    )
    .meta({ example: 'https://meet.example.com/api/calendar/lnc_....ics' }),
}).meta({ id: 'NewCalendarFeed' });
export type NewCalendarFeed = z.infer<typeof NewCalendarFeed>;

export const FeedAnswer = z
  .object({ feed: CalendarFeed.nullable().describe('null if the caller has no feed') })
  .meta({ id: 'CalendarFeedResponse' });
export const NewFeedAnswer = z.object({ feed: NewCalendarFeed }).meta({ id: 'NewCalendarFeedResponse' });

export const FeedParams = z.object({
  token: z.string().describe('The token of the feed, followed by `.ics`').meta({ example: 'lnc_....ics' }),
});
