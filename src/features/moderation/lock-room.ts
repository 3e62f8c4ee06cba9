import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Caller } from '../../auth/identify.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { lockRoomAsHost } from '../participants/room-access.ts';
import { readRoom } from '../rooms/read-rooms.ts';
import type { Room, RoomInput } from '../rooms/schemas.ts';

const setLockedAt = statement('lock-room', {
  params: { workspaceId: int, roomId: int, at: nullable(time) },
  returns: { id: int },
  sql: `
    update rooms set locked_at = $at
    where workspace_id = $workspaceId and id = $roomId and (locked_at is null) <> ($at is null)
    returning id`,
});

type Needs = Pick<Services, 'db' | 'clock'>;

/**
 * Locks a room, so that only its hosts and people who have been in the meeting can join. People who are waiting can
 * still be admitted. Locking a locked room changes nothing. Throws 404 "Room not found".
 */
export function lockRoom(services: Needs, caller: Caller, input: RoomInput): Promise<Room> {
  return setLock(services, caller, input, true);
}

/** Locks or unlocks the room. Waits until every join that started earlier has been committed. */
function setLock({ db, clock }: Needs, caller: Caller, { name }: RoomInput, isLocked: boolean): Promise<Room> {
  return transact(db, async (tx) => {
    const { workspaceId, roomId } = await lockRoomAsHost(tx, caller, name);
    const at = clock.now();
    const changed = await sqlIn(tx).run(setLockedAt, { workspaceId, roomId, at: isLocked ? at : null });
    if (changed.length > 0)
      await recordAudit(tx, {
        workspaceId,
        at,
        actor: auditActorOf(caller),
        action: isLocked ? 'room.locked' : 'room.unlocked',
        target: { kind: 'room', id: roomId, name },
      });
    return readRoom(sqlIn(tx), caller, { name });
  });
}

/** Unlocks a room. Unlocking an unlocked room changes nothing. Throws 404 "Room not found". */
export function unlockRoom(services: Needs, caller: Caller, input: RoomInput): Promise<Room> {
  return setLock(services, caller, input, false);
}
