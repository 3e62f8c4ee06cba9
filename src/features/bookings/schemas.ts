import { z } from 'zod';
import { email, id, integerBetween, MAX_NAME_LENGTH, requiredText, unixSeconds } from '../../core/validation.ts';

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799;

const seconds = integerBetween(0, LAST_SECOND);

/** A slug in a path: one that cannot be a page's is as unknown as any other. */
const PageSlugInput = z.object({ slug: z.string().describe('The slug of the booking page') });

export const TimesInput = PageSlugInput.extend({
  from: seconds.describe('Times from here on, Unix timestamp in seconds; now without it').optional(),
  to: seconds
    .describe(
      'Times before this, at most 62 days after `from`; 14 days after it without it. No time is more than 365 days from now',
    )
    .optional(),
});
export type TimesInput = z.infer<typeof TimesInput>;

export const TimesAnswer = z.object({
  page: z.object({
    title: z.string(),
    slug: z.string(),
    duration_minutes: z.int(),
    time_zone: z.string().describe('IANA time zone of who is booked').meta({ example: 'Europe/Berlin' }),
  }),
  times: z.array(z.int()).describe('When a meeting can begin, Unix timestamps in seconds, ascending'),
});
export type TimesAnswer = z.infer<typeof TimesAnswer>;

export const BookInput = PageSlugInput.extend({
  name: requiredText(MAX_NAME_LENGTH, 'Name is required')
    .describe('Who books; at most 100 characters')
    .meta({ example: 'Vera Novak' }),
  email: email.describe('Of who books').meta({ example: 'vera@example.com' }),
  starts_at: seconds.describe('One of the times that the page offers, Unix timestamp in seconds'),
});
export type BookInput = z.infer<typeof BookInput>;

export const BookedMeeting = z
  .object({
    id,
    title: z.string().describe('The title of the page'),
    starts_at: unixSeconds,
    ends_at: unixSeconds,
    name: z.string().describe('Who booked'),
    room_name: z.string().describe('The room in which to meet').meta({ example: 'amber-falcon' }),
    cancel_url: z
      .string()
      .describe(
        'The link that cancels: `{app_url}/book/<slug>/cancel?token=...`, a page of your frontend (`APP_URL`), which posts the token to the operation that cancels',
      ),
    cancel_token: z.string().describe('What cancels; whoever has it may. Begins with `lnb_`; shown only here'),
  })
  .meta({ id: 'BookedMeeting', description: 'A meeting as who booked it sees it' });
export type BookedMeeting = z.infer<typeof BookedMeeting>;

export const CancelInput = z.object({
  slug: z.string().describe('The slug of the booking page, now or when it was booked: the token decides'),
  token: z.string().describe('What booking answered'),
});
export type CancelInput = z.infer<typeof CancelInput>;

export const BookingInput = z.object({ bookingId: id.describe('Booking ID') });
export type BookingInput = z.infer<typeof BookingInput>;

export const ListBookingsInput = z.object({
  from: seconds
    .describe('Only meetings that begin here or later, Unix timestamp in seconds; without it those that have not ended')
    .optional(),
  to: seconds.describe('Only meetings that begin before this, after `from`, Unix timestamp in seconds').optional(),
  limit: integerBetween(1, 100).default(50).describe('Maximum number of bookings'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('How many bookings to skip'),
});
export type ListBookingsInput = z.infer<typeof ListBookingsInput>;

export const Booking = z
  .object({
    id,
    booking_page_id: id,
    title: z.string().describe('The title of the page'),
    contact_id: id.nullable().describe('null: the contact was deleted'),
    name: z.string().describe('Who booked'),
    email: z.string(),
    room_name: z.string().nullable().describe('null: the room was deleted'),
    starts_at: unixSeconds,
    ends_at: unixSeconds,
    cancelled_at: unixSeconds.nullable().describe('null: not cancelled'),
    created_at: unixSeconds,
  })
  .meta({ id: 'Booking', description: 'A meeting that somebody booked' });
export type Booking = z.infer<typeof Booking>;

export const BookingAnswer = z.object({ booking: BookedMeeting });
export const BookingsAnswer = z.object({ bookings: z.array(Booking) });
