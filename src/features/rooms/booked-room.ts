/** What happens to the room of a booking when its meeting is moved or cancelled. */
import { lockRoomRow } from '../../auth/room-lock.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, nullable, type Sql, statement } from '../../db/statements.ts';

type RoomKey = { workspaceId: number; roomId: number };

const setScheduledAt = statement('schedule-room', {
  params: { workspaceId: int, roomId: int, scheduledAt: nullable(float) },
  sql: 'update rooms set scheduled_at = $scheduledAt where workspace_id = $workspaceId and id = $roomId',
});

const deleteUnused = statement('delete-unused-room', {
  params: { workspaceId: int, roomId: int },
  returns: { id: int },
  sql: `
    delete from rooms r where r.workspace_id = $workspaceId and r.id = $roomId
      and not exists (select from participants p where p.workspace_id = r.workspace_id and p.room_id = r.id)
      and not exists (select from recordings c where c.workspace_id = r.workspace_id and c.room_id = r.id)
    returning r.id`,
});

/** Sets when the meeting in a room begins, in Unix seconds; null if it does not take place. */
export async function scheduleRoom(sql: Sql, room: RoomKey, scheduledAt: number | null): Promise<void> {
  await sql.run(setScheduledAt, { ...room, scheduledAt });
}

/**
 * Deletes the room if nobody has ever joined it, waited for it or recorded in it. Otherwise clears its scheduled time.
 */
export async function deleteUnusedRoom(tx: Tx, room: RoomKey): Promise<void> {
  // Joining and recording lock the row until they commit. Wait for the lock in a separate statement, because only later
  // statements see what they have written.
  await lockRoomRow(tx, room.workspaceId, room.roomId);
  const deleted = await sqlIn(tx).run(deleteUnused, room);
  if (deleted.length === 0) await scheduleRoom(sqlIn(tx), room, null);
}
