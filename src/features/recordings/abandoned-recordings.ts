/**
 * Recordings whose starter has left without stopping them. Such a recording ends when another one is started in the
 * room. A database trigger ends it when nobody is left in the room.
 */
import { int, type Sql, statement, time } from '../../db/statements.ts';
import type { RoomKey } from './recording-lifecycle.ts';

/** The condition that the recording `c` is running, and the participant who started it is no longer in the room. */
export const isAbandoned = `c.started_by is not null and c.status = 'started' and c.ended_at is null and not exists (
        select from participants p
        where p.workspace_id = c.workspace_id and p.id = c.started_by and p.status = 'joined')`;

const endAbandoned = statement('end-abandoned-recordings', {
  params: { workspaceId: int, roomId: int, at: time },
  sql: `
    update recordings c set updated_at = $at, ended_at = greatest(c.created_at, coalesce((
      select p.left_at from participants p where p.workspace_id = c.workspace_id and p.id = c.started_by), $at))
    where c.workspace_id = $workspaceId and c.room_id = $roomId and ${isAbandoned}`,
});

/**
 * Ends the recordings of the room whose starters have left, at the time when they left. Call it with the workspace
 * locked, so that nobody starts a recording concurrently.
 */
export async function endAbandonedRecordings(sql: Sql, at: Date, { workspaceId, roomId }: RoomKey): Promise<void> {
  await sql.run(endAbandoned, { workspaceId, roomId, at });
}
