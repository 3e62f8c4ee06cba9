/**
 * The status of a participant. `waiting` becomes `joined`, `refused` or `left`; `joined` becomes `left`; `refused` and
 * `left` are final.
 */
import { toEnum } from '../../core/enums.ts';

export const participantStatuses = ['waiting', 'joined', 'refused', 'left'] as const;

export type ParticipantStatus = (typeof participantStatuses)[number];

/** The status column of a participant as a ParticipantStatus. */
export function toParticipantStatus(text: string): ParticipantStatus {
  return toEnum(participantStatuses, text, 'participant status');
}
