import type { Caller } from '../../auth/identify.ts';
import type { Services } from '../../services.ts';
import { addLivekitRequest } from '../livekit/requests.ts';
import { findHostAccess } from '../participants/room-access.ts';
import { requestMuteOfRoom } from '../peers/mute-all.ts';
import type { RoomInput } from '../rooms/schemas.ts';

/**
 * Asks everybody else in the meeting to mute: their pages get `mute.requested` with the name of the caller, and a
 * LiveKit server mutes their microphones. Throws 404 "Room not found" unless the caller is a host of the room.
 */
export async function muteAll(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  { name }: RoomInput,
): Promise<{ ok: true }> {
  await db.sql.transact(async (sql) => {
    const { workspaceId, roomId } = await findHostAccess(sql, caller, name);
    const room = { workspaceId, roomId };
    const now = clock.now();
    await requestMuteOfRoom(sql, now, room, caller);
    await addLivekitRequest(sql, now, room, { kind: 'mute', mutedBy: caller.userId });
  });
  return { ok: true };
}
