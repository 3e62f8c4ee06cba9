/**
 * The status of a participant. `waiting` becomes `joined`, `refused` or `left`; `joined` becomes `left`; `left` becomes
 * `joined` only if a provider reports that a short interruption has ended; `refused` is final. docs/states.md shows it.
 */
import { toEnum } from '../../core/enums.ts';

export const participantStatuses = ['waiting', 'joined', 'refused', 'left'] as const;

export type ParticipantStatus = (typeof participantStatuses)[number];

/** Converts the `status` column of a participant to a ParticipantStatus. */
export function toParticipantStatus(text: string): ParticipantStatus {
  return toEnum(participantStatuses, text, 'participant status');
}

/** Why a host ended a visit or refused a waiting participant. */
export const endReasons = ['removed', 'closed'] as const;

export type EndReason = (typeof endReasons)[number];

/** Converts the `end_reason` column of a participant to an EndReason. */
export function toEndReason(text: string): EndReason {
  return toEnum(endReasons, text, 'end reason');
}
