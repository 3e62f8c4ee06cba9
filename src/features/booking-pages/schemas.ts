import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { isSlug, slugFormat } from '../../core/slugs.ts';
import {
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
}).meta({ id: 'UpdateBookingPageRequest' });
export type UpdatePageInput = z.infer<typeof UpdatePageInput>;

export const PagesAnswer = z
  .object({ bookingPages: z.array(BookingPage), next_cursor: nextCursor })
  .meta({ id: 'BookingPageList' });
export const PageAnswer = z.object({ bookingPage: BookingPage }).meta({ id: 'BookingPageResponse' });
