import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, ints, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { mailNewHost } from '../booking-mails/mail-bookings.ts';
import { acceptOverlaps, lockCalendar } from './host-calendar.ts';

/** Counts the change of the host in the calendars of the guests. */
const countChange = statement('count-change-of-host', {
  params: { workspaceId: int, pageIds: ints, at: time },
  returns: { id: int },
  sql: `
    update bookings set sequence = sequence + 1
    where workspace_id = $workspaceId and booking_page_id = any($pageIds) and cancelled_at is null
      and confirm_by is null and starts_at > $at
    returning id`,
});

/**
 * Transfers all booking pages of a leaving member, with their bookings, to the workspace owner. Sends email about
 * upcoming bookings to their guests and to both hosts. Call it with the workspace locked: a page that the member
 * creates concurrently is then either transferred too, or rejected because the member has left.
 */
export async function reassignBookingPages(
  services: Pick<Services, 'sealer' | 'clock'>,
  tx: Tx,
  {
    workspaceId,
    leavingUserId,
    ownerId,
    at,
  }: { workspaceId: number; leavingUserId: number; ownerId: number; at: Date },
): Promise<void> {
  const pages = { where: { workspaceId, userId: leavingUserId } };
  const pageIds = (await tx.bookingPage.findMany({ ...pages, select: { id: true } })).map(({ id }) => id);
  if (pageIds.length === 0) return;
  await lockCalendar(tx, ownerId, at);
  await acceptOverlaps(tx, workspaceId, leavingUserId, ownerId);
  // The foreign key also updates the host of the bookings.
  await tx.bookingPage.updateMany({ ...pages, data: { userId: ownerId } });
  const upcoming = await sqlIn(tx).run(countChange, { workspaceId, pageIds, at });
  const from = await tx.user.findUniqueOrThrow({ where: { id: leavingUserId }, select: { name: true, email: true } });
  const bookingIds = upcoming.map(({ id }) => id);
  await mailNewHost(services, sqlIn(tx), { workspaceId, bookingIds }, { at, from });
}
