import type { RoomHost } from '../../auth/participants.ts';
import type { Services } from '../../services.ts';
import { muteOnServers } from '../livekit/rooms.ts';
import { findHostAccess } from '../participants/room-access.ts';
import { type MutingHost, requestMuteOfRoom } from '../peers/mute-all.ts';
import type { RoomInput } from '../rooms/schemas.ts';

/**
 * Asks everybody else in the meeting to mute: their pages get `mute.requested` with the name of the host, and a
 * LiveKit server mutes their microphones. Throws the errors of `findHostAccess`.
 */
export async function muteAll(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  host: RoomHost,
  { name }: RoomInput,
): Promise<{ ok: true }> {
  await db.sql.transact(async (sql) => {
    const { workspaceId, roomId } = await findHostAccess(sql, host, name);
    const room = { workspaceId, roomId };
    const now = clock.now();
    const by = toMutingHost(host);
    await requestMuteOfRoom(sql, now, room, by);
    await muteOnServers(sql, now, room, by);
  });
  return { ok: true };
}

function toMutingHost(host: RoomHost): MutingHost & { name: string } {
  if (!('participant' in host)) return { userId: host.userId, participantId: null, name: host.name };
  const { id, name } = host.participant;
  return { userId: null, participantId: id, name };
}
