/** The state of a visit, as the stream of a participant sends it. */
import type { State } from '../../live-updates/state-stream.ts';
import type { ParticipantRecord } from './participant-record.ts';
import type { PresenceState } from './schemas.ts';

/** The state of somebody whose room has been deleted. */
export const roomDeleted: State = { event: 'room.deleted', data: { participant: null }, isFinal: true };

/** Returns the event that reports the status of a visit, and whether the visit has ended. */
export function toVisitState({ status, endReason }: ParticipantRecord): Pick<State, 'event' | 'isFinal'> {
  return { event: toEvent(status, endReason), isFinal: status === 'left' || status === 'refused' };
}

function toEvent(
  status: ParticipantRecord['status'],
  endReason: ParticipantRecord['endReason'],
): PresenceState['event'] {
  if (endReason === 'removed') return 'participant.removed';
  if (endReason === 'closed') return 'room.closed';
  return `participant.${status}`;
}
