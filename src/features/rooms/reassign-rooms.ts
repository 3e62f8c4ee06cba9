import type { Tx } from '../../db/client.ts';

/**
 * Reassigns the rooms of a leaving member to the owner of the workspace. Call it with the workspace locked: a room that
 * the member creates concurrently is then either reassigned too or rejected because the member has left.
 */
export async function reassignRooms(tx: Tx, workspaceId: number, leaverId: number, ownerId: number): Promise<void> {
  await tx.room.updateMany({ where: { workspaceId, userId: leaverId }, data: { userId: ownerId } });
}
