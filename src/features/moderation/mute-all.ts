import type { Caller } from '../../auth/identify.ts';
import type { Services } from '../../services.ts';
import { findHostAccess } from '../participants/room-access.ts';
import { requestMuteOfRoom } from '../peers/mute-all.ts';
import type { RoomInput } from '../rooms/schemas.ts';

/**
 * Asks everybody else in the meeting to mute: their pages get `mute.requested` with the name of the caller. Throws 404
 * "Room not found" unless the caller is a host of the room.
 */
export async function muteAll(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  { name }: RoomInput,
): Promise<{ ok: true }> {
  const { workspaceId, roomId } = await findHostAccess(db.sql, caller, name);
  await requestMuteOfRoom(db.sql, clock.now(), { workspaceId, roomId }, caller);
  return { ok: true };
}
