import type { Tx } from '../../db/client.ts';

/**
 * Gives the rooms of a leaving member to the owner of the workspace. Call it with the workspace locked: then a room
 * that the member is creating at the same time is either reassigned, or not created because its creator is not a member
 * any more.
 */
export async function reassignRooms(tx: Tx, workspaceId: number, leaverId: number, ownerId: number): Promise<void> {
  await tx.room.updateMany({ where: { workspaceId, userId: leaverId }, data: { userId: ownerId } });
}
