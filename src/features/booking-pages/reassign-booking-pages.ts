import type { Tx } from '../../db/client.ts';
import { acceptOverlaps, lockCalendar } from './host-calendar.ts';

/**
 * Makes the owner of the workspace the host of all booking pages of a member who leaves, and of their bookings. Call it
 * with the workspace locked: a page that the member creates at the same time is then either reassigned too, or rejected
 * because the member has left.
 */
export async function reassignBookingPages(
  tx: Tx,
  workspaceId: number,
  leavingUserId: number,
  ownerId: number,
): Promise<void> {
  const pages = { where: { workspaceId, userId: leavingUserId } };
  if ((await tx.bookingPage.findFirst({ ...pages, select: { id: true } })) === null) return;
  await lockCalendar(tx, ownerId);
  await acceptOverlaps(tx, workspaceId, leavingUserId, ownerId);
  // The foreign key changes the host of the bookings too.
  await tx.bookingPage.updateMany({ ...pages, data: { userId: ownerId } });
}
