import { int, nullable, type Sql, statement, time } from '../../db/statements.ts';

const setLockedAt = statement('lock-room', {
  params: { workspaceId: int, roomId: int, at: nullable(time) },
  returns: { id: int },
  sql: `
    update rooms set locked_at = $at
    where workspace_id = $workspaceId and id = $roomId and (locked_at is null) <> ($at is null)
    returning id`,
});

/**
 * Locks a room to newcomers from `at` on, or unlocks it if `at` is null. Returns false if it was so already. Call it
 * with the row of the room locked.
 */
export async function setRoomLock(
  sql: Sql,
  room: { workspaceId: number; roomId: number },
  at: Date | null,
): Promise<boolean> {
  return (await sql.run(setLockedAt, { ...room, at })).length > 0;
}
