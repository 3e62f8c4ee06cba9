import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { RoomHost } from '../../auth/participants.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { BAR_MS } from '../participants/bars.ts';
import { endVisit } from '../participants/end-visits.ts';
import { lockParticipant } from '../participants/participant-record.ts';
import { toParticipant } from '../participants/present.ts';
import { lockRoomAsHost } from '../participants/room-access.ts';
import type { Participant, ParticipantInput } from '../participants/schemas.ts';
import { endAbandonedRecordings } from '../recordings/abandoned-recordings.ts';

/**
 * Removes a participant from the room or its waiting room, and makes their token invalid. Emits `room.left` if they
 * were in the room, and ends the capture of a recording that they make. If the person joins again, they have to wait to
 * be admitted, even in a room without a waiting room. This ends when the meeting is closed, or after 24 hours. Removing
 * a participant again changes nothing. Throws 404 "Room not found" or "Participant not found".
 */
export function removeParticipant(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  host: RoomHost,
  { name, participantId }: ParticipantInput,
): Promise<Participant> {
  return transact(db, async (tx) => {
    const { workspaceId, roomId } = await lockRoomAsHost(tx, host, name);
    const sql = sqlIn(tx);
    const key = { workspaceId, roomId, id: participantId };
    const participant = await lockParticipant(sql, key);
    if (participant.endReason === 'removed') return toParticipant(participant);
    const at = clock.now();
    await endVisit(sql, at, key, new Date(at.getTime() + BAR_MS));
    await endAbandonedRecordings(sql, at, { workspaceId, roomId });
    await recordAudit(tx, {
      workspaceId,
      at,
      actor: auditActorOf(host),
      action: 'room.participant_removed',
      target: { kind: 'room', id: roomId, name },
      after: { participant_id: participantId },
    });
    return toParticipant(await lockParticipant(sql, key));
  });
}
