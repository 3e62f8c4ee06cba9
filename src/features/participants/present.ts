/** What leaves of a participant. */
import { toUnixSeconds } from '../../core/time.ts';
import type { ParticipantRecord } from './participant-record.ts';
import type { OwnParticipant, Participant } from './schemas.ts';

/** As they see themself. The message is for those who wait. */
export function toOwnParticipant(visit: ParticipantRecord, waitingRoomMessage: string | null): OwnParticipant {
  return {
    id: visit.id,
    room_name: visit.roomName,
    name: visit.name,
    status: visit.status,
    waiting_room_message: visit.status === 'waiting' ? waitingRoomMessage : null,
    joined_at: toSecondsOrNull(visit.joinedAt),
    created_at: toUnixSeconds(visit.createdAt),
  };
}

function toSecondsOrNull(date: Date | null): number | null {
  return date && toUnixSeconds(date);
}

/** As the hosts of the room see them. */
export function toParticipant(visit: ParticipantRecord): Participant {
  return {
    id: visit.id,
    name: visit.name,
    email: visit.email,
    user_id: visit.userId,
    contact_id: visit.contactId,
    status: visit.status,
    created_at: toUnixSeconds(visit.createdAt),
    joined_at: toSecondsOrNull(visit.joinedAt),
    left_at: toSecondsOrNull(visit.leftAt),
  };
}
