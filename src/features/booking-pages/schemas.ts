import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { isSlug, slugFormat } from '../../core/slugs.ts';
import {
  fieldOf,
  id,
  integerBetween,
  integerFrom,
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
/** Minutes: 30 days. */
const MAX_NOTICE = 43_200;
/** As many as meetings of five minutes fit into a day. */
const MAX_PER_DAY = 288;
const MAX_DAYS_OFF = 366;
const MIN_REMINDER = 5;
/** Two weeks, in minutes. */
const MAX_REMINDER = 20_160;

const INVALID_SLUG = 'slug must have 2 to 64 characters: a-z, 0-9 and single hyphens between them';

const slug = z
  .string({ error: INVALID_SLUG })
  .refine(isSlug, { error: INVALID_SLUG })
  .describe('Part of the link; unique in the whole service')
  .meta({ ...slugFormat, example: 'intro-call' });

const title = requiredText(MAX_TITLE_LENGTH, 'Title is required')
  .describe('What guests can book; at most 100 characters')
  .meta({ example: 'Intro call' });

const durationMinutes = integerBetween(MIN_DURATION, MAX_DURATION)
  .describe('Length of a meeting, in minutes')
  .meta({ example: 30 });

const { time_zone: timeZone, hours } = OpeningHours.shape;

const rules = {
  minimum_notice_minutes: integerBetween(0, MAX_NOTICE).describe('How long before its start a meeting must be booked'),
  buffer_before_minutes: integerBetween(0, MAX_BUFFER).describe(
    'How long the host has no other meeting before a meeting of this page',
  ),
  buffer_after_minutes: integerBetween(0, MAX_BUFFER).describe(
    'How long the host has no other meeting after a meeting of this page',
  ),
  max_per_day: integerBetween(1, MAX_PER_DAY)
    .nullable()
    .describe('How many meetings of this page may start on one day of its time zone; null: any number'),
  days_off: z
    .array(
      z.iso
        .date({ error: (issue) => `${fieldOf(issue)} must be a date such as 2026-12-24` })
        .meta({ example: '2026-12-24' }),
    )
    .max(MAX_DAYS_OFF)
    .describe('Dates in the time zone of the page on which it is closed, at most 366'),
};
/** Minutes. */
const DEFAULT_REMINDER = 1_440;

const confirmEmail = z
  .boolean()
  .describe('Whether a booking takes effect only when its guest opens a link that they get by mail, within 30 minutes');
const notifyHost = z.boolean().describe('Whether the host gets mail about the bookings');
const reminderMinutes = integerBetween(MIN_REMINDER, MAX_REMINDER)
  .nullable()
  .describe('How many minutes before a meeting its guest and host are reminded by mail; null means never');

export const BookingPage = z
  .object({
    id,
    workspace_id: id,
    user_id: id.describe('User ID of the host: the creator of the page, or the workspace owner after the creator left'),
    title: z.string(),
    slug: z.string(),
    duration_minutes: integerFrom(MIN_DURATION, MAX_DURATION),
    time_zone: z.string().describe('IANA time zone of the opening hours').meta({ example: 'Europe/Berlin' }),
    hours,
    ...rules,
    confirm_email: confirmEmail,
    notify_host: notifyHost,
    reminder_minutes: integerFrom(MIN_REMINDER, MAX_REMINDER).nullable().describe('Minutes; null means no reminder'),
    url: z
      .string()
      .describe(
        'Link to share: `{app_url}/book/<slug>`. Your frontend (`APP_URL`) serves this page, where guests see the ' +
          'available times and book one of them',
      ),
    created_at: unixSeconds,
    updated_at: unixSeconds,
  })
  .meta({ id: 'BookingPage', description: 'A page where anyone can book a meeting with its host' });
export type BookingPage = z.infer<typeof BookingPage>;

export const CreatePageInput = z
  .object({
    title,
    slug: optional(slug.describe('Part of the link; unique in the whole service; default: derived from the title')),
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

export const PageInput = z.object({ pageId: id.describe('Booking page ID') });
export type PageInput = z.infer<typeof PageInput>;

export const UpdatePageInput = PageInput.extend({
  title: optional(title),
  slug: optional(slug.describe('Links with the old slug stop working, except links for cancelling')),
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

export const PagesAnswer = z
  .object({ bookingPages: z.array(BookingPage), next_cursor: nextCursor })
  .meta({ id: 'BookingPageList' });
export const PageAnswer = z.object({ bookingPage: BookingPage }).meta({ id: 'BookingPageResponse' });
