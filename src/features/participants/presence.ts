/** The operations that participants call with their token: sending heartbeats and leaving. */
import type { RoomCaller } from '../../auth/participants.ts';
import { notFound, participantRemoved } from '../../core/errors.ts';
import { SECOND_MS } from '../../core/time.ts';
import { int, nullable, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { mediaColumnsOf, mediaReturns, toMedia } from '../peers/media.ts';
import { storePageState } from '../peers/page-state.ts';
import { markLeft } from './participant-lifecycle.ts';
import { participantReturns, selectColumns, toParticipantRecord, withRooms } from './participant-record.ts';
import { toVisitor } from './participant-reference.ts';
import { toOwnParticipant } from './present.ts';
import type { PresenceAnswer, PresenceInput } from './schemas.ts';

/** A heartbeat is not stored if the last stored heartbeat is more recent than this. */
const MIN_INTERVAL_MS = 10 * SECOND_MS;

const storeHeartbeat = statement('store-heartbeat', {
  params: { workspaceId: int, id: int, now: time, latest: time },
  returns: { ...participantReturns, ...mediaReturns, waitingRoomMessage: nullable(text) },
  sql: `
    with seen as (
      update participants set last_seen_at = $now
      where workspace_id = $workspaceId and id = $id and status in ('waiting', 'joined') and last_seen_at <= $latest)
    select ${selectColumns('$now')}, ${mediaColumnsOf('p.id')}, r.waiting_room_message as "waitingRoomMessage"
    from ${withRooms}
    where p.workspace_id = $workspaceId and p.id = $id`,
});

/**
 * Stores a heartbeat of the participant, at most once every 10 seconds, and returns the participant with their status.
 * Does not change a participant who has left or was refused. Stores what the input says about the page at once. Throws
 * 404 "Participant not found" if the room has been deleted, 403 if a host has just removed the participant, and the
 * errors of `storePageState`.
 */
export async function recordPresence(
  services: Pick<Services, 'db' | 'clock' | 'settings' | 'sealer' | 'livekitEgress'>,
  { workspaceId, id, status }: RoomCaller,
  { connection_id: connectionId, ...state }: PresenceInput,
): Promise<PresenceAnswer> {
  const { db, clock, sealer } = services;
  // First, so that a rejected call stores nothing.
  if (connectionId !== undefined && status === 'joined')
    await storePageState(db.sql, { workspaceId, participantId: id, connectionId }, state);
  const now = clock.now();
  const latest = new Date(now.getTime() - MIN_INTERVAL_MS);
  const [row] = await db.sql.run(storeHeartbeat, { workspaceId, id, now, latest });
  if (!row) throw notFound('Participant');
  const { waitingRoomMessage, ...participant } = row;
  if (participant.endReason === 'removed') throw participantRemoved();
  return {
    participant: toOwnParticipant(toParticipantRecord(participant), waitingRoomMessage),
    media: await toMedia(services, { sql: db.sql, now }, toVisitor(sealer, participant, connectionId), participant),
  };
}

/**
 * Leaves the room or its waiting room. Emits `room.left` if the participant had joined. Leaving again changes nothing.
 */
export async function leaveRoom(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  participant: RoomCaller,
): Promise<{ ok: true }> {
  const { status } = participant;
  // These statuses are final.
  if (status !== 'left' && status !== 'refused') await markLeft(db.sql, clock.now(), participant);
  return { ok: true };
}
