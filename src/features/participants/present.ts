/** What leaves of a participant. */
import { toUnixSeconds } from '../../core/time.ts';
import type { OwnParticipant, Participant } from './schemas.ts';
import type { Visit } from './visit.ts';

const toSecondsOrNull = (date: Date | null): number | null => date && toUnixSeconds(date);

/** As they see themself. The message is for those who wait. */
export const toOwnParticipant = (visit: Visit, waitingRoomMessage: string | null): OwnParticipant => ({
  id: visit.id,
  room_name: visit.roomName,
  name: visit.name,
  status: visit.status,
  waiting_room_message: visit.status === 'waiting' ? waitingRoomMessage : null,
  joined_at: toSecondsOrNull(visit.joinedAt),
  created_at: toUnixSeconds(visit.createdAt),
});

/** As the hosts of the room see them. */
export const toParticipant = (visit: Visit): Participant => ({
  id: visit.id,
  name: visit.name,
  email: visit.email,
  user_id: visit.userId,
  contact_id: visit.contactId,
  status: visit.status,
  created_at: toUnixSeconds(visit.createdAt),
  joined_at: toSecondsOrNull(visit.joinedAt),
  left_at: toSecondsOrNull(visit.leftAt),
});
