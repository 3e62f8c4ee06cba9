import type { Tx } from '../../db/client.ts';

/**
 * Makes the owner of the workspace the host of all booking pages of a member who leaves. Call it with the workspace
 * locked: a page that the member creates at the same time is then either reassigned too, or rejected because the member
 * has left.
 */
export async function reassignBookingPages(
  tx: Tx,
  workspaceId: number,
  leavingUserId: number,
  ownerId: number,
): Promise<void> {
  await tx.bookingPage.updateMany({ where: { workspaceId, userId: leavingUserId }, data: { userId: ownerId } });
}
