/** What participants tell of themselves: that they are there, and that they go. */
import type { RoomCaller } from '../../auth/participants.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { SECOND_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { markLeft } from './participant-lifecycle.ts';
import {
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from './participant-record.ts';
import { toOwnParticipant } from './present.ts';
import type { OwnParticipant } from './schemas.ts';

/** A sign of life is not written so soon after another. */
const MIN_PAUSE_MS = 10 * SECOND_MS;

/**
 * Notes that the participant is there, at most every 10 seconds, and tells them how they stand to the room. Who left or
 * was refused stays so. Throws 404 "Participant not found" where the room was deleted meanwhile.
 */
export async function recordPresence(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId, id }: RoomCaller,
): Promise<OwnParticipant> {
  const now = clock.now();
  const due = new Date(now.getTime() - MIN_PAUSE_MS);
  const [row] = await db.$queryRaw<(ParticipantRow & { waitingRoomMessage: string | null })[]>`
    with seen as (
      update participants set last_seen_at = ${now}
      where workspace_id = ${workspaceId} and id = ${id} and status in ('waiting', 'joined') and last_seen_at <= ${due})
    select ${participantColumns}, r.waiting_room_message as "waitingRoomMessage" from ${participantTables}
    where p.workspace_id = ${workspaceId} and p.id = ${id}`;
  if (!row) throw notFound('Participant');
  const { waitingRoomMessage, ...visit } = row;
  return toOwnParticipant(toParticipantRecord(visit), waitingRoomMessage);
}

/** Leaves the room, or the wait for it; who left or was refused stays so. Emits `room.left` for who had joined. */
export async function leaveRoom(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  participant: RoomCaller,
): Promise<{ ok: true }> {
  const { workspaceId, status } = participant;
  // Both are final: nobody waits for a lock to hear of it.
  if (status === 'left' || status === 'refused') return { ok: true };
  await transact(db, async (tx) => {
    await lockWorkspace(tx, workspaceId, 'Participant');
    await markLeft(tx, clock.now(), participant);
  });
  return { ok: true };
}
