import { z } from 'zod';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import {
  email,
  flag,
  id,
  integerBetween,
  integerFrom,
  LAST_SECOND,
  MAX_INT32,
  MAX_NAME_LENGTH,
  optional,
  requiredText,
  unixSeconds,
} from '../../core/validation.ts';
import { LANGUAGES } from '../../languages/languages.ts';
import { viewerTimeZone } from '../booking-pages/opening-hours.ts';
import { MAX_DURATION, MIN_DURATION } from '../booking-pages/schemas.ts';
import { Branding } from '../branding/public-branding.ts';

const seconds = integerBetween(0, LAST_SECOND);

/** Accepts any string as a slug, so that an invalid slug returns 404, as an unknown one does. */
const PageSlugInput = z.object({ slug: z.string().describe('The slug of the booking page') });

const range = {
  from: seconds.describe('Start of the range, as a Unix timestamp in seconds; default: now').optional(),
  to: seconds
    .describe('End of the range (exclusive), at most 62 days after `from`; default: 14 days after `from`')
    .optional(),
};

export const TimesInput = PageSlugInput.extend(range);
export type TimesInput = z.infer<typeof TimesInput>;

const BookablePage = z
  .object({
    title: z.string(),
    description: z.string().nullable().describe('What the page says to guests'),
    host_name: z.string().describe('Whom guests meet'),
    slug: z.string(),
    duration_minutes: integerFrom(MIN_DURATION, MAX_DURATION),
    time_zone: z.string().describe('Time zone of the page').meta({ example: 'Europe/Berlin' }),
    branding: Branding,
  })
  .meta({ id: 'BookablePage', description: 'A booking page, as shown to guests' });

export const TimesAnswer = z
  .object({
    page: BookablePage,
    times: z.array(unixSeconds).describe('Available start times as Unix timestamps in seconds, in ascending order'),
  })
  .meta({ id: 'AvailableTimes' });
export type TimesAnswer = z.infer<typeof TimesAnswer>;

export const BookInput = PageSlugInput.extend({
  name: requiredText(MAX_NAME_LENGTH, 'Name is required')
    .describe('Name of the guest; at most 100 characters')
    .meta({ example: 'Vera Novak' }),
  email: email.describe('Email address of the guest').meta({ example: 'vera@example.com' }),
  starts_at: seconds.describe('One of the available times, as a Unix timestamp in seconds'),
  time_zone: optional(viewerTimeZone),
  language: optional(z.enum(LANGUAGES)).describe(
    'Language of mail to the guest. Default: the first in the header Accept-Language that is one of these, or English',
  ),
}).meta({ id: 'BookMeetingRequest' });
export type BookInput = z.infer<typeof BookInput>;

const status = z
  .enum(['confirmed', 'unconfirmed', 'cancelled'])
  .describe(
    '`confirmed`: the meeting will take place; `unconfirmed`: it must first be confirmed, see `awaits`; `cancelled`: ' +
      'the meeting will not take place',
  );

const awaits = z
  .enum(['guest', 'host'])
  .nullable()
  .describe(
    'Who must confirm an unconfirmed booking. `guest`: with a link sent by email, within 30 minutes; `host`: the ' +
      'host or an admin must approve it within 24 hours; null: nobody',
  );

const sequence = integerFrom(0, MAX_INT32).describe(
  'How many times the booking was changed, including its cancellation',
);

const guestTimeZone = z
  .string()
  .nullable()
  .describe('Time zone of the guest; null if it was not sent or is not known')
  .meta({ example: 'Europe/Paris' });

export const GuestBooking = z
  .object({
    id,
    uid: z
      .string()
      .describe('The UID of the meeting in calendar files and in calendar invitations sent by mail')
      .meta({ example: '0b54f1c8-3f0a-4a55-9d2e-6f0f6a4f2f6b' }),
    title: z.string().describe('The title of the page'),
    slug: z.string().describe('The slug of the page'),
    host_name: z.string(),
    starts_at: unixSeconds,
    ends_at: unixSeconds,
    name: z.string().describe('Name of the guest'),
    time_zone: guestTimeZone,
    room_name: z
      .string()
      .nullable()
      .describe('Name of the room for the meeting; null if the room was deleted or the booking is unconfirmed')
      .meta({ example: 'amber-falcon' }),
    status,
    awaits,
    cancelled_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null if the booking is not cancelled'),
    sequence,
    manage_url: z
      .string()
      .describe(
        'Link to view, move and cancel the meeting: `{app_url}/book/<slug>/booking#token=...`. Your frontend ' +
          '(`APP_URL`) serves this page. Anyone with the link can change the meeting',
      ),
    cancel_url: z
      .string()
      .describe(
        'Link to cancel the meeting: `{app_url}/book/<slug>/cancel?token=...`. Your frontend (`APP_URL`) serves this ' +
          'page, which sends the token to the cancel operation',
      ),
  })
  .meta({ id: 'GuestBooking', description: 'A meeting, as shown to its guest' });
export type GuestBooking = z.infer<typeof GuestBooking>;

export const BookedMeeting = GuestBooking.extend({
  cancel_token: z
    .string()
    .describe(
      'The token of the booking. It begins with `lnb_`. Only this response contains it. Anyone with the token can ' +
        'view, move and cancel the meeting',
    ),
}).meta({ id: 'BookedMeeting', description: 'A new meeting, with its token' });
export type BookedMeeting = z.infer<typeof BookedMeeting>;

export const TokenInput = z.object({
  slug: z.string().describe('Ignored: the token alone identifies the meeting'),
  token: z.string().describe('The `cancel_token` of the meeting'),
});
export type TokenInput = z.infer<typeof TokenInput>;

export const TimesToMoveInput = TokenInput.extend(range).meta({ id: 'TimesToMoveRequest' });
export type TimesToMoveInput = z.infer<typeof TimesToMoveInput>;

export const LookUpInput = TokenInput.meta({ id: 'LookUpBookingRequest' });
export const CancelInput = TokenInput.meta({ id: 'CancelMeetingRequest' });

export const ConfirmInput = TokenInput.extend({
  token: z.string().describe('The token from the link that confirms the booking. It begins with `lnm_`'),
}).meta({ id: 'ConfirmBookingRequest' });

export const RescheduleInput = TokenInput.extend({
  starts_at: seconds.describe('One of the available times of the page, as a Unix timestamp in seconds'),
}).meta({ id: 'RescheduleMeetingRequest' });
export type RescheduleInput = z.infer<typeof RescheduleInput>;

export const BookingInput = z.object({ bookingId: requestedId.describe('Booking ID') });
export type BookingInput = z.infer<typeof BookingInput>;

export const RescheduleByTeamInput = BookingInput.extend({
  starts_at: seconds.describe('A time within the next 365 days, as a Unix timestamp in seconds'),
}).meta({ id: 'RescheduleBookingRequest' });
export type RescheduleByTeamInput = z.infer<typeof RescheduleByTeamInput>;

export const ListBookingsInput = z.object({
  from: seconds
    .describe(
      'Only bookings that start at this time or later, as a Unix timestamp in seconds; default: only bookings that ' +
        'have not ended',
    )
    .optional(),
  to: seconds
    .describe(
      'Only bookings that start before this time, as a Unix timestamp in seconds. Must be after `from`, or after the ' +
        'current time if `from` is not set',
    )
    .optional(),
  host_id: requestedId.describe('Only bookings with this host').optional(),
  status: status.describe('Only bookings with this status').optional(),
  limit: integerBetween(1, 100).default(50).describe('Maximum number of bookings'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of bookings to skip'),
  cursor,
});
export type ListBookingsInput = z.infer<typeof ListBookingsInput>;

export const Booking = z
  .object({
    id,
    booking_page_id: id,
    title: z.string().describe('The title of the page'),
    host_id: id.describe('User ID of the host'),
    host_name: z.string(),
    contact_id: id.nullable().describe('null if the contact was deleted'),
    name: z.string().describe('Name of the guest'),
    email: z.string().describe('Email address of the guest'),
    time_zone: guestTimeZone,
    room_name: z.string().nullable().describe('null if the room was deleted'),
    starts_at: unixSeconds,
    ends_at: unixSeconds,
    status,
    awaits,
    cancelled_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null if the booking is not cancelled'),
    created_at: unixSeconds,
    sequence,
    overlaps: flag.describe(
      '1 if the host has another meeting at the same time. This can happen when a page and its bookings pass to ' +
        'another host. New bookings never overlap',
    ),
  })
  .meta({ id: 'Booking', description: 'A booked meeting' });
export type Booking = z.infer<typeof Booking>;

export const BookingAnswer = z.object({ booking: BookedMeeting }).meta({ id: 'BookedMeetingResponse' });
export const GuestBookingAnswer = z.object({ booking: GuestBooking }).meta({ id: 'GuestBookingResponse' });
export const TeamBookingAnswer = z.object({ booking: Booking }).meta({ id: 'BookingResponse' });
export const BookingsAnswer = z
  .object({ bookings: z.array(Booking), next_cursor: nextCursor })
  .meta({ id: 'BookingList' });
