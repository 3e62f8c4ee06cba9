/** A booking page as the public meets it: by its slug, with what is booked on it. */
import { notFound } from '../../core/errors.ts';
import { isSlug } from '../../core/slugs.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import type { Database, Tx } from '../../db/client.ts';
import type { TakenTime } from '../booking-pages/free-times.ts';
import type { PageRow } from '../booking-pages/present.ts';
import { MAX_DURATION } from '../booking-pages/schemas.ts';

const HORIZON_DAYS = 365;

/** `userName`: of who is booked. */
export type OpenPage = Omit<PageRow, 'createdAt' | 'updatedAt'> & { userName: string };

/** The last instant at which a meeting that is booked now may begin. */
export function horizonOf(now: Date): Date {
  return new Date(now.getTime() + HORIZON_DAYS * DAY_MS);
}

/** The page behind a link. Throws 404 "Booking page not found". */
export async function findPage(db: Database | Tx, slug: string): Promise<OpenPage> {
  // Also because the text comes from outside, and PostgreSQL takes not every text.
  if (!isSlug(slug)) throw notFound('Booking page');
  const [page] = await db.$queryRaw<OpenPage[]>`
    select p.id, p.workspace_id as "workspaceId", p.user_id as "userId", u.name as "userName", p.title, p.slug,
      p.duration, p.time_zone as "timeZone", p.hours
    from booking_pages p join users u on u.id = p.user_id where p.slug = ${slug}`;
  if (!page) throw notFound('Booking page');
  return page;
}

/** What is booked on a page between two instants, and not cancelled. */
export async function listTaken(
  db: Database | Tx,
  { workspaceId, id }: Pick<PageRow, 'workspaceId' | 'id'>,
  from: Date,
  to: Date,
): Promise<TakenTime[]> {
  // No meeting lasts longer, so that what begins before this has ended.
  const earliest = new Date(from.getTime() - MAX_DURATION * MINUTE_MS);
  return db.booking.findMany({
    where: {
      workspaceId,
      bookingPageId: id,
      cancelledAt: null,
      startsAt: { gte: earliest, lt: to },
      endsAt: { gt: from },
    },
    select: { startsAt: true, endsAt: true },
  });
}
