import { toUnixSeconds } from '../../core/time.ts';
import { OpeningHours } from './opening-hours.ts';
import type { BookingPage } from './schemas.ts';

/** The columns of a `BookingPageRow`. */
export const bookingPageColumns = {
  id: true,
  workspaceId: true,
  userId: true,
  title: true,
  description: true,
  slug: true,
  duration: true,
  timeZone: true,
  hours: true,
  minimumNotice: true,
  bufferBefore: true,
  bufferAfter: true,
  maxPerDay: true,
  daysOff: true,
  confirmEmail: true,
  notifyHost: true,
  reminderMinutes: true,
  createdAt: true,
  updatedAt: true,
} as const;

export type BookingPageRow = {
  id: number;
  workspaceId: number;
  userId: number;
  title: string;
  description: string | null;
  slug: string;
  duration: number;
  timeZone: string;
  hours: unknown;
  minimumNotice: number;
  bufferBefore: number;
  bufferAfter: number;
  maxPerDay: number | null;
  daysOff: string[];
  confirmEmail: boolean;
  notifyHost: boolean;
  reminderMinutes: number | null;
  createdAt: Date;
  updatedAt: Date;
};

/** Parses the JSON of the column `hours`. */
export function toOpeningHours({ timeZone, hours }: Pick<BookingPageRow, 'timeZone' | 'hours'>): OpeningHours {
  return OpeningHours.parse({ time_zone: timeZone, hours });
}

/** Returns the link to a page. `appUrl` is the base URL of the frontend. */
export function toBookingPageUrl(appUrl: string, slug: string): string {
  return `${appUrl}/book/${slug}`;
}

/** SQL expression for the link to the page `p`. */
export const bookingPageUrl = "$appUrl || '/book/' || p.slug";

/** Maps a row to its public shape. */
export function toBookingPage(row: BookingPageRow, appUrl: string): BookingPage {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    user_id: row.userId,
    title: row.title,
    description: row.description,
    slug: row.slug,
    duration_minutes: row.duration,
    ...toOpeningHours(row),
    minimum_notice_minutes: row.minimumNotice,
    buffer_before_minutes: row.bufferBefore,
    buffer_after_minutes: row.bufferAfter,
    max_per_day: row.maxPerDay,
    days_off: row.daysOff,
    confirm_email: row.confirmEmail,
    notify_host: row.notifyHost,
    reminder_minutes: row.reminderMinutes,
    url: toBookingPageUrl(appUrl, row.slug),
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}
