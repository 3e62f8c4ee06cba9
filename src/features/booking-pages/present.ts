import { toUnixSeconds } from '../../core/time.ts';
import { OpenHours } from './open-hours.ts';
import type { BookingPage } from './schemas.ts';

/** What the functions below need of a row. */
export const pageColumns = {
  id: true,
  workspaceId: true,
  userId: true,
  title: true,
  slug: true,
  duration: true,
  timeZone: true,
  hours: true,
  createdAt: true,
  updatedAt: true,
} as const;

export type PageRow = {
  id: number;
  workspaceId: number;
  userId: number;
  title: string;
  slug: string;
  duration: number;
  timeZone: string;
  hours: unknown;
  createdAt: Date;
  updatedAt: Date;
};

/** The hours column is JSON; this is where it becomes open hours again. */
export function openHoursOf({ timeZone, hours }: Pick<PageRow, 'timeZone' | 'hours'>): OpenHours {
  return OpenHours.parse({ time_zone: timeZone, hours });
}

/** The link to a page. `appUrl` is where the frontend lives. */
export function pageUrl(appUrl: string, slug: string): string {
  return `${appUrl}/book/${slug}`;
}

export function toPage(row: PageRow, appUrl: string): BookingPage {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    user_id: row.userId,
    title: row.title,
    slug: row.slug,
    duration_minutes: row.duration,
    ...openHoursOf(row),
    url: pageUrl(appUrl, row.slug),
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}
