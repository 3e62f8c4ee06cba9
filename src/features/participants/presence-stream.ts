/** The stream that sends participants the state of their visit. */
import type { RoomCaller } from '../../auth/participants.ts';
import { int, nullable, statement, text } from '../../db/statements.ts';
import type { NewStream } from '../../live-updates/open-streams.ts';
import type { State } from '../../live-updates/state-stream.ts';
import type { LiveStream } from '../../live-updates/stream-message.ts';
import type { Services } from '../../services.ts';
import {
  type ParticipantRecord,
  participantReturns,
  selectedColumns,
  toParticipantRecord,
  withRooms,
} from './participant-record.ts';
import { toOwnParticipant } from './present.ts';
import type { PresenceMessage } from './schemas.ts';

const findOwn = statement('find-own-participant', {
  params: { workspaceId: int, id: int },
  returns: { ...participantReturns, waitingRoomMessage: nullable(text) },
  sql: `
    select ${selectedColumns}, r.waiting_room_message as "waitingRoomMessage" from ${withRooms}
    where p.workspace_id = $workspaceId and p.id = $id`,
});

/**
 * Opens a stream that sends the participant's current state and then every change. The stream ends with the visit, or
 * when the room is deleted. It does not replace heartbeats. Throws 429 if the participant or their network has too many
 * open streams, and 503 if the process, the room or all guests together have too many.
 */
export function openPresenceStream(
  { db, live }: Pick<Services, 'db' | 'live'>,
  { workspaceId, roomId, id, isUser }: RoomCaller,
  { network, hungUp }: Pick<NewStream, 'network' | 'hungUp'>,
): LiveStream {
  const read = async (): Promise<State> => {
    const [row] = await db.sql.run(findOwn, { workspaceId, id });
    if (!row) return { event: 'room.deleted', data: { participant: null }, isFinal: true };
    const { waitingRoomMessage, ...columns } = row;
    const record = toParticipantRecord(columns);
    const isFinal = record.status === 'left' || record.status === 'refused';
    return { event: toEvent(record), data: { participant: toOwnParticipant(record, waitingRoomMessage) }, isFinal };
  };
  const topics = [`participant:${id}`, `room:${roomId}`];
  const guestIn = isUser ? null : roomId;
  return live.openStates({ read }, { owner: `participant:${id}`, network, guestIn, topics, hungUp });
}

function toEvent({ status, endReason }: ParticipantRecord): PresenceMessage['event'] {
  if (endReason === 'removed') return 'participant.removed';
  if (endReason === 'closed') return 'room.closed';
  return `participant.${status}`;
}
