import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { RoomHost } from '../../auth/participants.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { closeOnServers } from '../livekit/rooms.ts';
import { liftBars } from '../participants/bars.ts';
import { endVisitsOfRoom } from '../participants/end-visits.ts';
import { lockRoomAsHost } from '../participants/room-access.ts';
import { stopRecordingsOfRoom } from '../recordings/start-stop.ts';
import type { RoomInput } from '../rooms/schemas.ts';
import { setRoomLock } from '../rooms/set-room-lock.ts';
import type { ClosedMeeting } from './schemas.ts';

/**
 * Closes the meeting in a room. Everyone in the room leaves, which emits `room.left` once for each; everyone who is
 * waiting is refused; running recordings stop; the room is unlocked, and people who were removed can join again. The
 * room still exists: the next person who joins starts a new meeting. Closing a closed meeting changes nothing. Throws
 * 404 "Room not found".
 */
export function closeMeeting(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  host: RoomHost,
  { name }: RoomInput,
): Promise<ClosedMeeting> {
  return transact(db, async (tx) => {
    const { workspaceId, roomId } = await lockRoomAsHost(tx, host, name);
    const sql = sqlIn(tx);
    const room = { workspaceId, roomId };
    const at = clock.now();
    const { left, refused } = await endVisitsOfRoom(sql, at, room);
    const recordings = await stopRecordingsOfRoom(tx, at, room);
    await closeOnServers(sql, room);
    await liftBars(sql, room);
    await setRoomLock(sql, room, null);
    if (left + refused + recordings > 0)
      await recordAudit(tx, {
        workspaceId,
        at,
        actor: auditActorOf(host),
        action: 'room.closed',
        target: { kind: 'room', id: roomId, name },
        after: { left, refused, recordings },
      });
    return { left, refused, stopped_recordings: recordings };
  });
}
