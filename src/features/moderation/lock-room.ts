import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { RoomHost } from '../../auth/participants.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { removeStrangers } from '../livekit/rooms.ts';
import { lockRoomAsHost } from '../participants/room-access.ts';
import { readRoomAsHost } from '../rooms/read-rooms.ts';
import type { Room, RoomInput } from '../rooms/schemas.ts';
import { setRoomLock } from '../rooms/set-room-lock.ts';

type Needs = Pick<Services, 'db' | 'clock'>;

/**
 * Locks a room, so that only its hosts and people who have been in the meeting can join. People who are waiting can
 * still be admitted. Locking a locked room changes nothing. Throws 404 "Room not found".
 */
export function lockRoom(services: Needs, host: RoomHost, input: RoomInput): Promise<Room> {
  return setLock(services, host, input, true);
}

/** Locks or unlocks the room. Waits until every join that started earlier has been committed. */
function setLock(services: Needs, host: RoomHost, { name }: RoomInput, isLocked: boolean): Promise<Room> {
  const { db, clock } = services;
  return transact(db, async (tx) => {
    const { workspaceId, roomId } = await lockRoomAsHost(tx, host, name);
    const at = clock.now();
    const hasChanged = await setRoomLock(sqlIn(tx), { workspaceId, roomId }, isLocked ? at : null);
    if (isLocked) await removeStrangers(sqlIn(tx), { workspaceId, roomId });
    if (hasChanged)
      await recordAudit(tx, {
        workspaceId,
        at,
        actor: auditActorOf(host),
        action: isLocked ? 'room.locked' : 'room.unlocked',
        target: { kind: 'room', id: roomId, name },
      });
    return readRoomAsHost(sqlIn(tx), host, { name });
  });
}

/** Unlocks a room. Unlocking an unlocked room changes nothing. Throws 404 "Room not found". */
export function unlockRoom(services: Needs, host: RoomHost, input: RoomInput): Promise<Room> {
  return setLock(services, host, input, false);
}
