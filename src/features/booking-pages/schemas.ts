import { z } from 'zod';
import { ListPageInput, nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { isSlug, slugFormat } from '../../core/slugs.ts';
import {
  fieldOf,
  id,
  integerBetween,
  integerFrom,
  multilineText,
  optional,
  requiredText,
  unixSeconds,
  withDefault,
} from '../../core/validation.ts';
import { OpeningHours } from './opening-hours.ts';

const MAX_TITLE_LENGTH = 100;
/** Minutes. */
export const MIN_DURATION = 5;
/** Minutes. */
export const MAX_DURATION = 480;
/** Minutes. */
export const MAX_BUFFER = 240;
/** 30 days, in minutes. */
const MAX_NOTICE = 43_200;
/** The number of five-minute meetings in a day. */
const MAX_PER_DAY = 288;
const MAX_DAYS_OFF = 366;
const MIN_REMINDER = 5;
/** Two weeks, in minutes. */
const MAX_REMINDER = 20_160;

export const MIN_SLUG_LENGTH = 2;
const INVALID_SLUG = 'slug must have 2 to 64 characters: a-z, 0-9 and single hyphens between them';

const slug = z
  .string({ error: INVALID_SLUG })
  .refine((text) => isSlug(text) && text.length >= MIN_SLUG_LENGTH, { error: INVALID_SLUG })
  .describe('Part of the link; unique across all workspaces')
  .meta({ ...slugFormat, minLength: MIN_SLUG_LENGTH, example: 'intro-call' });

const title = requiredText(MAX_TITLE_LENGTH, 'Title is required')
  .describe('Title of the meetings; at most 100 characters')
  .meta({ example: 'Intro call' });

const durationMinutes = integerBetween(MIN_DURATION, MAX_DURATION)
  .describe('Length of a meeting, in minutes')
  .meta({ example: 30 });

const { time_zone: timeZone, hours } = OpeningHours.shape;

const rules = {
  minimum_notice_minutes: integerBetween(0, MAX_NOTICE).describe(
    'How many minutes in advance a meeting must be booked',
  ),
  buffer_before_minutes: integerBetween(0, MAX_BUFFER).describe(
    'How many minutes to keep free before a meeting of this page',
  ),
  buffer_after_minutes: integerBetween(0, MAX_BUFFER).describe(
    'How many minutes to keep free after a meeting of this page',
  ),
  max_per_day: integerBetween(1, MAX_PER_DAY)
    .nullable()
    .describe('The maximum number of meetings of this page that start on one day, in its time zone; null: no limit'),
  days_off: z
    .array(
      z.iso
        .date({ error: (issue) => `${fieldOf(issue)} must be a date such as 2026-12-24` })
        .meta({ example: '2026-12-24' }),
    )
    .max(MAX_DAYS_OFF)
    .describe('At most 366 dates on which the page is closed, in its time zone'),
};
const MAX_DESCRIPTION = 1_000;
/** Minutes. */
const DEFAULT_REMINDER = 1_440;

const description = multilineText(MAX_DESCRIPTION)
  .nullable()
  .transform((value) => value || null)
  .describe(`What guests read on the page, at most ${MAX_DESCRIPTION} characters; null or empty: nothing`);
const confirmEmail = z
  .boolean()
  .describe('Whether the guest must confirm a booking within 30 minutes, with a link sent by email');
const notifyHost = z.boolean().describe('Whether the host gets mail about bookings');
const reminderMinutes = integerBetween(MIN_REMINDER, MAX_REMINDER)
  .nullable()
  .describe('How many minutes before a meeting to remind the guest and the host by mail; null: no reminder');

export const BookingPage = z
  .object({
    id,
    workspace_id: id,
    user_id: id.describe(
      'User ID of the host: the creator of the page, or the workspace owner if the creator has left',
    ),
    title: z.string(),
    description: z.string().nullable().describe('What guests read on the page'),
    slug: z.string(),
    duration_minutes: integerFrom(MIN_DURATION, MAX_DURATION),
    time_zone: z.string().describe('Time zone of the opening hours').meta({ example: 'Europe/Berlin' }),
    hours,
    ...rules,
    confirm_email: confirmEmail,
    notify_host: notifyHost,
    reminder_minutes: integerFrom(MIN_REMINDER, MAX_REMINDER).nullable().describe('Minutes; null: no reminder'),
    url: z
      .string()
      .describe(
        'Link to share: `{app_url}/book/<slug>`. Your frontend (`APP_URL`) serves this page, where guests book one ' +
          'of the available times',
      ),
    created_at: unixSeconds,
    updated_at: unixSeconds,
  })
  .meta({ id: 'BookingPage', description: 'A page where anyone can book a meeting with its host' });
export type BookingPage = z.infer<typeof BookingPage>;

export const CreatePageInput = z
  .object({
    title,
    description: description.optional(),
    slug: optional(slug.describe('Part of the link; unique across all workspaces; default: derived from the title')),
    duration_minutes: withDefault(durationMinutes, 30),
    time_zone: timeZone,
    hours,
    minimum_notice_minutes: withDefault(rules.minimum_notice_minutes, 0),
    buffer_before_minutes: withDefault(rules.buffer_before_minutes, 0),
    buffer_after_minutes: withDefault(rules.buffer_after_minutes, 0),
    max_per_day: rules.max_per_day.optional(),
    days_off: withDefault(rules.days_off, []),
    confirm_email: withDefault(confirmEmail, false),
    notify_host: withDefault(notifyHost, true),
    reminder_minutes: reminderMinutes.default(DEFAULT_REMINDER),
  })
  .meta({ id: 'CreateBookingPageRequest' });
export type CreatePageInput = z.infer<typeof CreatePageInput>;

export const PageInput = z.object({ pageId: requestedId.describe('Booking page ID') });
export type PageInput = z.infer<typeof PageInput>;

export const UpdatePageInput = PageInput.extend({
  title: optional(title),
  description: description.optional(),
  slug: optional(slug.describe('Links with the old slug stop working, except the links of existing bookings')),
  duration_minutes: optional(durationMinutes),
  time_zone: optional(timeZone),
  hours: optional(hours),
  minimum_notice_minutes: optional(rules.minimum_notice_minutes),
  buffer_before_minutes: optional(rules.buffer_before_minutes),
  buffer_after_minutes: optional(rules.buffer_after_minutes),
  max_per_day: rules.max_per_day.optional(),
  days_off: optional(rules.days_off),
  confirm_email: optional(confirmEmail),
  notify_host: optional(notifyHost),
  reminder_minutes: reminderMinutes.optional(),
}).meta({ id: 'UpdateBookingPageRequest' });
export type UpdatePageInput = z.infer<typeof UpdatePageInput>;

/** A page with many opening hours and days off takes more than 7 kB. */
export const ListPagesInput = ListPageInput.extend({
  limit: integerBetween(1, 100).default(50).describe('Maximum number of booking pages'),
});

export const PagesAnswer = z
  .object({ bookingPages: z.array(BookingPage), next_cursor: nextCursor })
  .meta({ id: 'BookingPageList' });
export const PageAnswer = z.object({ bookingPage: BookingPage }).meta({ id: 'BookingPageResponse' });
