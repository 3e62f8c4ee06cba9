import type { Tx } from '../../db/client.ts';

/**
 * Gives the rooms that a leaver has in the workspace to its owner. Call it with the workspace's row locked: a room that
 * is being created then is either passed on, or refused since its creator is no member any more.
 */
export async function reassignRooms(tx: Tx, workspaceId: number, leaverId: number, ownerId: number): Promise<void> {
  await tx.room.updateMany({ where: { workspaceId, userId: leaverId }, data: { userId: ownerId } });
}
