/** The public shapes of a participant. */
import { toUnixSeconds } from '../../core/time.ts';
import type { ParticipantRecord } from './participant-record.ts';
import type { OwnParticipant, Participant } from './schemas.ts';

/** Converts a participant to the shape that the participant sees. Only a waiting participant gets the message. */
export function toOwnParticipant(participant: ParticipantRecord, waitingRoomMessage: string | null): OwnParticipant {
  return {
    id: participant.id,
    room_name: participant.roomName,
    name: participant.name,
    user_id: participant.userId,
    status: participant.status,
    end_reason: participant.endReason,
    is_host: participant.isHost ? 1 : 0,
    is_member: participant.isMember ? 1 : 0,
    room_locked: participant.roomLocked ? 1 : 0,
    may_record: toFlagOrNull(participant.mayRecord),
    external_id: participant.externalId,
    metadata: participant.metadata,
    waiting_room_message: participant.status === 'waiting' ? waitingRoomMessage : null,
    joined_at: toSecondsOrNull(participant.joinedAt),
    created_at: toUnixSeconds(participant.createdAt),
  };
}

export function toFlagOrNull(value: boolean | null): 0 | 1 | null {
  if (value === null) return null;
  return value ? 1 : 0;
}

function toSecondsOrNull(date: Date | null): number | null {
  return date && toUnixSeconds(date);
}

/** Converts a participant to the shape that the hosts of the room see. */
export function toParticipant(participant: ParticipantRecord): Participant {
  return {
    id: participant.id,
    name: participant.name,
    email: participant.email,
    user_id: participant.userId,
    contact_id: participant.contactId,
    external_id: participant.externalId,
    metadata: participant.metadata,
    status: participant.status,
    end_reason: participant.endReason,
    created_at: toUnixSeconds(participant.createdAt),
    joined_at: toSecondsOrNull(participant.joinedAt),
    left_at: toSecondsOrNull(participant.leftAt),
  };
}
