/**
 * The booking pages of a workspace. Each change locks the workspace first, then checks the actor's role. `appUrl` is
 * the base URL of the frontend.
 */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, conflictForNow, notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { toSlug } from '../../core/slugs.ts';
import { type Prisma, type Tx, transact } from '../../db/client.ts';
import { secondsOf } from '../../db/columns.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { insertWithFreeSlug } from '../../db/insert-with-free-slug.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, float, int, json, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { type BookingPageRow, bookingPageColumns, bookingPageUrl, toBookingPage } from './present.ts';
import {
  type BookingPage,
  type CreatePageInput,
  MIN_SLUG_LENGTH,
  type PageInput,
  type UpdatePageInput,
} from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Leaves space for the suffix that makes a slug unique. */
const MAX_SLUG_BASE = 50;

type RuleInputs = Omit<UpdatePageInput, 'pageId' | 'title' | 'slug' | 'duration_minutes' | 'time_zone' | 'hours'>;

type NewPage = Omit<Prisma.BookingPageCreateManyInput, 'slug'>;

const pagesOf = pagedList('list-booking-pages', {
  order: byTime('p.created_at', 'id', 'asc'),
  params: { workspaceId: int, appUrl: text },
  returns: {
    id: int,
    workspace_id: int,
    user_id: int,
    title: text,
    description: nullable(text),
    slug: text,
    duration_minutes: int,
    time_zone: text,
    hours: json<BookingPage['hours']>(),
    minimum_notice_minutes: int,
    buffer_before_minutes: int,
    buffer_after_minutes: int,
    max_per_day: nullable(int),
    days_off: json<BookingPage['days_off']>('json'),
    confirm_email: bool,
    notify_host: bool,
    reminder_minutes: nullable(int),
    url: text,
    created_at: float,
    updated_at: float,
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select id, workspace_id, user_id, title, description, slug, duration as duration_minutes, time_zone, hours,
      minimum_notice as minimum_notice_minutes, buffer_before as buffer_before_minutes,
      buffer_after as buffer_after_minutes, max_per_day, to_json(days_off) as days_off, confirm_email, notify_host,
      reminder_minutes, ${bookingPageUrl} as url, ${secondsOf('p.created_at')} as created_at,
      ${secondsOf('updated_at')} as updated_at,
      ${timeKeyOf('p.created_at')}
    from booking_pages p
    where workspace_id = $workspaceId ${after} ${window}`,
});

/** Lists pages, oldest first. */
export function listBookingPages(
  { db }: Db,
  { workspaceId }: Actor,
  page: ListPageInput,
  appUrl: string,
): Promise<Page<BookingPage>> {
  return readPage(db.sql, pagesOf, { workspaceId, appUrl }, page, [workspaceId]);
}

/** Creates a page with the actor as host. Throws 409 if another page has the slug. */
export function createBookingPage(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  {
    title,
    description = null,
    slug,
    duration_minutes: duration,
    time_zone: timeZone,
    hours,
    ...rules
  }: CreatePageInput,
  appUrl: string,
): Promise<BookingPage> {
  return write(services, actor, async (tx) => {
    const at = services.clock.now();
    const { workspaceId, userId } = actor;
    const page = { workspaceId, userId, title, description, duration, timeZone, hours, ...toRuleColumns(rules) };
    const row = await insertPage(tx, { ...page, createdAt: at, updatedAt: at }, slug);
    if (!row) throw slugTaken();
    return toBookingPage(row, appUrl);
  });
}

/**
 * Runs `work` in a transaction with the workspace locked. Throws 404 if the workspace was deleted, and 403 if the actor
 * is no longer owner or admin.
 */
function write<Result>({ db }: Db, actor: Actor, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    return work(tx);
  });
}

/** Returns the columns for the rules that were sent. */
function toRuleColumns(rules: RuleInputs) {
  const { minimum_notice_minutes: minimumNotice, max_per_day: maxPerDay, days_off: daysOff } = rules;
  const { buffer_before_minutes: bufferBefore, buffer_after_minutes: bufferAfter } = rules;
  const { confirm_email: confirmEmail, notify_host: notifyHost, reminder_minutes: reminderMinutes } = rules;
  return {
    ...(minimumNotice !== undefined && { minimumNotice }),
    ...(bufferBefore !== undefined && { bufferBefore }),
    ...(bufferAfter !== undefined && { bufferAfter }),
    ...(maxPerDay !== undefined && { maxPerDay }),
    ...(confirmEmail !== undefined && { confirmEmail }),
    ...(notifyHost !== undefined && { notifyHost }),
    ...(reminderMinutes !== undefined && { reminderMinutes }),
    ...(daysOff !== undefined && { daysOff: [...new Set(daysOff)].sort() }),
  };
}

/**
 * Inserts the page with the requested slug. Returns undefined if another page has this slug. If no slug is requested,
 * uses the first free one.
 */
async function insertPage(
  tx: Tx,
  page: NewPage,
  requestedSlug: string | undefined,
): Promise<BookingPageRow | undefined> {
  const insert = async (slug: string): Promise<BookingPageRow | undefined> => {
    const data = { ...page, slug };
    return (await tx.bookingPage.createManyAndReturn({ data, select: bookingPageColumns, skipDuplicates: true }))[0];
  };
  if (requestedSlug !== undefined) return insert(requestedSlug);
  const base = toSlugBase(page.title);
  // The prefix distinguishes this counter from the counters of workspace slugs, which have no prefix.
  return insertWithFreeSlug(tx, { base, counter: `book/${base}` }, insert);
}

function toSlugBase(title: string): string {
  const base = toSlug(title, 'meeting', MAX_SLUG_BASE);
  return base.length < MIN_SLUG_LENGTH ? `meeting-${base}` : base;
}

function slugTaken() {
  return conflict('Slug is already taken');
}

/**
 * Updates only the fields that are sent. Existing bookings stay as they are. Throws 403 or 404, and throws 409 if
 * another page has the slug.
 */
export async function updateBookingPage(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  {
    pageId,
    title,
    description,
    slug,
    duration_minutes: duration,
    time_zone: timeZone,
    hours,
    ...rules
  }: UpdatePageInput,
  appUrl: string,
): Promise<BookingPage> {
  const data = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(slug !== undefined && { slug }),
    ...(duration !== undefined && { duration }),
    ...(timeZone !== undefined && { timeZone }),
    ...(hours !== undefined && { hours }),
    ...toRuleColumns(rules),
  };
  const where = { workspaceId: actor.workspaceId, id: pageId };
  try {
    return await write(services, actor, async (tx) => {
      const [row] =
        Object.keys(data).length === 0
          ? await tx.bookingPage.findMany({ where, select: bookingPageColumns })
          : await tx.bookingPage.updateManyAndReturn({
              where,
              data: { ...data, updatedAt: services.clock.now() },
              select: bookingPageColumns,
            });
      if (!row) throw notFound('Booking page');
      return toBookingPage(row, appUrl);
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw slugTaken();
    throw error;
  }
}

const lockPage = statement('lock-booking-page', {
  params: { workspaceId: int, pageId: int },
  sql: 'select from booking_pages where workspace_id = $workspaceId and id = $pageId for update',
});

const deletePage = statement('delete-booking-page', {
  params: { workspaceId: int, pageId: int },
  returns: { title: text },
  sql: 'delete from booking_pages where workspace_id = $workspaceId and id = $pageId returning title',
});

/**
 * Deletes a page with its past and cancelled bookings, but not their rooms. Throws 403 or 404, and throws 409 if the
 * page has upcoming bookings, which guests rely on.
 */
export function deleteBookingPage(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { pageId }: PageInput,
): Promise<{ ok: true }> {
  return write(services, actor, async (tx) => {
    const { workspaceId } = actor;
    // Wait for transactions that have locked the page, so that the next query finds the bookings that they add.
    await sqlIn(tx).run(lockPage, { workspaceId, pageId });
    const upcoming = await tx.booking.findFirst({
      where: {
        workspaceId,
        bookingPageId: pageId,
        cancelledAt: null,
        confirmBy: null,
        startsAt: { gt: services.clock.now() },
      },
      select: { id: true },
    });
    if (upcoming !== null) throw conflictForNow('The page has upcoming bookings: cancel them first');
    const [deleted] = await sqlIn(tx).run(deletePage, { workspaceId, pageId });
    if (!deleted) throw notFound('Booking page');
    await recordAudit(tx, {
      workspaceId,
      at: services.clock.now(),
      actor: auditActorOf(actor),
      action: 'booking_page.deleted',
      target: { kind: 'booking_page', id: pageId, name: deleted.title },
    });
    return { ok: true };
  });
}
