import { z } from 'zod';
import { isSlug, slugFormat } from '../../core/slugs.ts';
import { id, integerBetween, requiredText, unixSeconds } from '../../core/validation.ts';
import { OpenHours } from './open-hours.ts';

const MAX_TITLE_LENGTH = 100;
const MIN_DURATION = 5;
/** Minutes. */
export const MAX_DURATION = 480;

const SLUG = 'slug must be 2 to 64 of a-z, 0-9 and single inner hyphens';

const slug = z
  .string({ error: SLUG })
  .refine(isSlug, { error: SLUG })
  .describe('Part of the link; unique in the whole service')
  .meta({ ...slugFormat, example: 'intro-call' });

const title = requiredText(MAX_TITLE_LENGTH, 'Title is required')
  .describe('What is booked; at most 100 characters')
  .meta({ example: 'Intro call' });

const durationMinutes = integerBetween(MIN_DURATION, MAX_DURATION)
  .describe('Length of a meeting, in minutes')
  .meta({ example: 30 });

const { time_zone: timeZone, hours } = OpenHours.shape;

export const BookingPage = z
  .object({
    id,
    workspace_id: id,
    user_id: id.describe('User ID of who is booked: the creator, or the owner once they left'),
    title: z.string(),
    slug: z.string(),
    duration_minutes: z.int(),
    time_zone: z.string().describe('IANA time zone, in which the hours are meant').meta({ example: 'Europe/Berlin' }),
    hours,
    url: z
      .string()
      .describe(
        'The link to share: `{app_url}/book/<slug>`, a page of your frontend (`APP_URL`), which asks for the times and books',
      ),
    created_at: unixSeconds,
    updated_at: unixSeconds,
  })
  .meta({ id: 'BookingPage', description: 'A page on which anyone may book a meeting' });
export type BookingPage = z.infer<typeof BookingPage>;

export const CreatePageInput = z.object({
  title,
  slug: slug.describe('Part of the link; unique in the whole service; made from the title when omitted').optional(),
  duration_minutes: durationMinutes.default(30),
  time_zone: timeZone,
  hours,
});
export type CreatePageInput = z.infer<typeof CreatePageInput>;

export const PageInput = z.object({ pageId: id.describe('Booking page ID') });
export type PageInput = z.infer<typeof PageInput>;

export const UpdatePageInput = PageInput.extend({
  title: title.optional(),
  slug: slug.describe('Ends every link with the old one, but for those that cancel').optional(),
  duration_minutes: durationMinutes.optional(),
  time_zone: timeZone.optional(),
  hours: hours.optional(),
});
export type UpdatePageInput = z.infer<typeof UpdatePageInput>;

export const PagesAnswer = z.object({ bookingPages: z.array(BookingPage) });
export const PageAnswer = z.object({ bookingPage: BookingPage });
