/** The stream that sends participants the state of their visit and, with `peers`, the others in the room. */
import type { RoomCaller } from '../../auth/participants.ts';
import { badField } from '../../core/errors.ts';
import { int, nullable, statement, text } from '../../db/statements.ts';
import type { NewStream } from '../../live-updates/open-streams.ts';
import type { State } from '../../live-updates/state-stream.ts';
import type { LiveStream } from '../../live-updates/stream-message.ts';
import type { Services } from '../../services.ts';
import { createMeetingReader } from './meeting-reader.ts';
import { participantReturns, selectColumns, toParticipantRecord, withRooms } from './participant-record.ts';
import { toOwnParticipant } from './present.ts';
import type { LiveInput } from './schemas.ts';
import { roomDeleted, toVisitState } from './visit-state.ts';

type Needs = Pick<Services, 'db' | 'live' | 'clock' | 'settings' | 'sealer' | 'livekitEgress' | 'pages' | 'log'>;

const findOwn = statement('find-own-participant', {
  params: { workspaceId: int, id: int },
  returns: { ...participantReturns, waitingRoomMessage: nullable(text) },
  sql: `
    select ${selectColumns()}, r.waiting_room_message as "waitingRoomMessage" from ${withRooms}
    where p.workspace_id = $workspaceId and p.id = $id`,
});

/**
 * Opens a stream that sends the participant's current state and then every change. With `peers`, it also sends the
 * other participants, signals from them, and requests of hosts to mute, and the page takes the participant's place in
 * the meeting. The stream ends with the visit, when the room is deleted, or when another page takes the place. It does
 * not replace heartbeats. Throws 400 for `peers` without `connection_id`, 429 if the participant or their network has
 * too many open streams, and 503 if the process, the room or all guests together have too many.
 */
export function openPresenceStream(
  services: Needs,
  participant: RoomCaller,
  { peers, connection_id: connectionId }: LiveInput,
  { network, hungUp }: Pick<NewStream, 'network' | 'hungUp'>,
): LiveStream {
  const { roomId, id, isUser } = participant;
  const group = `room:${roomId}`;
  const newStream = { owner: `participant:${id}`, network, guestIn: isUser ? null : roomId, group, hungUp };
  const topics = [`participant:${id}`, group];
  if (!peers)
    return services.live.openStates({ read: () => readState(services, participant) }, { ...newStream, topics });
  if (connectionId === undefined) throw badField('connection_id', 'connection_id is required with peers');
  const reader = createMeetingReader(services, participant, connectionId);
  return services.live.openStates(reader, { ...newStream, topics: [...topics, `meeting:${roomId}`] });
}

/** The state as clients of release 0.2 know it. */
async function readState({ db }: Needs, { workspaceId, id }: RoomCaller): Promise<State[]> {
  const [row] = await db.sql.run(findOwn, { workspaceId, id });
  if (!row) return [roomDeleted];
  const { waitingRoomMessage, ...columns } = row;
  const record = toParticipantRecord(columns);
  const { user_id, is_host, is_member, may_record, external_id, metadata, ...participant } = toOwnParticipant(
    record,
    waitingRoomMessage,
  );
  return [{ ...toVisitState(record), data: { participant } }];
}
