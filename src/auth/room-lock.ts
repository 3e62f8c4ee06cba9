import type { Tx } from '../db/client.ts';
import { sqlIn } from '../db/sql.ts';
import { int, statement } from '../db/statements.ts';

const lockStatement = statement('lock-row-of-room', {
  params: { workspaceId: int, roomId: int },
  sql: 'select from rooms where workspace_id = $workspaceId and id = $roomId for update',
});

/**
 * Locks the row of a room until the transaction ends. Waits for joins and starts of recordings in progress, which later
 * statements of the transaction then see, and prevents new ones. Call it with the workspace locked.
 */
export async function lockRoomRow(tx: Tx, workspaceId: number, roomId: number): Promise<void> {
  await sqlIn(tx).run(lockStatement, { workspaceId, roomId });
}
