import type { Tx } from '../../db/client.ts';

/**
 * Gives the booking pages that a leaver has in the workspace to its owner, who is booked from then on. Call it with the
 * workspace's row locked: a page that is being made then is either passed on, or refused since its creator is no member
 * any more.
 */
export async function passPagesOn(tx: Tx, workspaceId: number, leaverId: number, ownerId: number): Promise<void> {
  await tx.bookingPage.updateMany({ where: { workspaceId, userId: leaverId }, data: { userId: ownerId } });
}
