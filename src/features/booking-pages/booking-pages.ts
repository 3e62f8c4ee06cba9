/**
 * The booking pages of a workspace. Each change takes the workspace's row first and looks at the actor's role behind
 * that lock. `appUrl` is where the frontend lives.
 */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isSlug, toSlug } from '../../core/slugs.ts';
import { isUniqueViolation, type Prisma, type Tx, transact } from '../../db/client.ts';
import { insertWithFreeSlug } from '../../db/insert-with-free-slug.ts';
import type { Services } from '../../services.ts';
import { type PageRow, pageColumns, toPage } from './present.ts';
import type { BookingPage, CreatePageInput, PageInput, UpdatePageInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Leaves room for what makes a slug unique. */
const MAX_BASE = 50;

type NewPage = Omit<Prisma.BookingPageCreateManyInput, 'slug'>;

/** All pages, oldest first. */
export async function listPages({ db }: Db, { workspaceId }: Actor, appUrl: string): Promise<BookingPage[]> {
  const rows = await db.bookingPage.findMany({
    where: { workspaceId },
    select: pageColumns,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map((row) => toPage(row, appUrl));
}

/** Creates a page on which the actor is booked. Throws 409 for a slug that is taken. */
export function createPage(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { title, slug, duration_minutes: duration, time_zone: timeZone, hours }: CreatePageInput,
  appUrl: string,
): Promise<BookingPage> {
  return write(services, actor, async (tx) => {
    const at = services.clock.now();
    const { workspaceId, userId } = actor;
    const page = { workspaceId, userId, title, duration, timeZone, hours, createdAt: at, updatedAt: at };
    const row = await insertPage(tx, page, slug);
    if (!row) throw slugTaken();
    return toPage(row, appUrl);
  });
}

/** Runs `work` in a transaction behind the workspace's lock. Throws 404 and 403. */
function write<Result>({ db }: Db, actor: Actor, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    return work(tx);
  });
}

/** The new page under the first slug that is free; undefined where the one that is asked for is taken. */
async function insertPage(tx: Tx, page: NewPage, wanted: string | undefined): Promise<PageRow | undefined> {
  const insert = async (slug: string): Promise<PageRow | undefined> => {
    const data = { ...page, slug };
    return (await tx.bookingPage.createManyAndReturn({ data, select: pageColumns, skipDuplicates: true }))[0];
  };
  if (wanted !== undefined) return insert(wanted);
  const base = baseOf(page.title);
  // A separate counter: that of workspaces has the plain slug as its name.
  return insertWithFreeSlug(tx, { base, counter: `book/${base}` }, insert);
}

function baseOf(title: string): string {
  const base = toSlug(title, 'meeting', MAX_BASE);
  return isSlug(base) ? base : `meeting-${base}`;
}

function slugTaken() {
  return conflict('Slug is already taken');
}

/** Changes what is sent; what is booked stays booked. Throws 404, and 409 for a slug that another page has. */
export async function updatePage(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { pageId, title, slug, duration_minutes: duration, time_zone: timeZone, hours }: UpdatePageInput,
  appUrl: string,
): Promise<BookingPage> {
  const data = {
    ...(title !== undefined && { title }),
    ...(slug !== undefined && { slug }),
    ...(duration !== undefined && { duration }),
    ...(timeZone !== undefined && { timeZone }),
    ...(hours !== undefined && { hours }),
  };
  const where = { workspaceId: actor.workspaceId, id: pageId };
  try {
    return await write(services, actor, async (tx) => {
      const [row] =
        Object.keys(data).length === 0
          ? await tx.bookingPage.findMany({ where, select: pageColumns })
          : await tx.bookingPage.updateManyAndReturn({
              where,
              data: { ...data, updatedAt: services.clock.now() },
              select: pageColumns,
            });
      if (!row) throw notFound('Booking page');
      return toPage(row, appUrl);
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw slugTaken();
    throw error;
  }
}

/**
 * Deletes a page with its bookings, of which none may be to come: whoever booked counts on it. The rooms that were made
 * for them stay. Throws 404, and 409 for a page with meetings that have not begun and are not cancelled.
 */
export function deletePage(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { pageId }: PageInput,
): Promise<{ ok: true }> {
  return write(services, actor, async (tx) => {
    const { workspaceId } = actor;
    const toCome = await tx.booking.findFirst({
      where: { workspaceId, bookingPageId: pageId, cancelledAt: null, startsAt: { gt: services.clock.now() } },
      select: { id: true },
    });
    if (toCome !== null) throw conflict('The page has bookings to come: cancel them first');
    const { count } = await tx.bookingPage.deleteMany({ where: { workspaceId, id: pageId } });
    if (count === 0) throw notFound('Booking page');
    return { ok: true };
  });
}
