/** The states of a participant: who waits joins, is refused or leaves, who joined leaves, and the last two are final. */
import { toEnum } from '../../core/enums.ts';

export const participantStatuses = ['waiting', 'joined', 'refused', 'left'] as const;

export type ParticipantStatus = (typeof participantStatuses)[number];

/** The status column of a participant as a ParticipantStatus. */
export function toParticipantStatus(text: string): ParticipantStatus {
  return toEnum(participantStatuses, text, 'participant status');
}
