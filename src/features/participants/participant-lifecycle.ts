/**
 * The lifecycle of a participant, whether the participant, a host, a meeting provider or a schedule causes the change.
 * Call these functions with the workspace locked. `at` is when the change happened.
 */
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { NewEvent } from '../../events/catalogue.ts';
import { emit, emitAll } from '../../events/emit.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { findOrCreateContacts } from '../contacts/find-or-create-contact.ts';
import { recordContactEvents } from '../contacts/record-contact-event.ts';
import {
  lockParticipant,
  type ParticipantKey,
  type ParticipantRecord,
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from './participant-record.ts';

/** Rows per statement. */
const ADMITTED_AT_A_TIME = 500;

type RoomKey = Omit<ParticipantKey, 'id'>;

/** The provider's id of one visit, unique within the meeting. `meeting` is the provider's name or id of the meeting. */
export type ProviderReference = { connectionId: number; meeting: string; participantReference: string };

export type NewParticipant = {
  workspaceId: number;
  roomId: number;
  name: string;
  email: string | null;
  /** null: a guest. */
  userId: number | null;
  /** SHA-256 of the token that joining returned; null if only a provider reported the participant. */
  tokenHash: Uint8Array<ArrayBuffer> | null;
  /** The token, sealed, for a user who joins again; null for others. */
  sealedToken?: Uint8Array<ArrayBuffer> | null;
  /** null if no provider reported the participant. */
  reference: ProviderReference | null;
};

/**
 * Adds a participant with status `waiting` and emits nothing. Returns the id. Throws a foreign key violation if the
 * room or the user has been deleted, and a unique violation if a participant with the provider's reference already
 * exists.
 */
export async function addParticipant(tx: Tx, at: Date, { reference, ...participant }: NewParticipant): Promise<number> {
  const data = { ...participant, ...reference, status: 'waiting', createdAt: at, lastSeenAt: at };
  const { id } = await tx.participant.create({ data, select: { id: true } });
  return id;
}

/** The event `room.left` of a participant who had joined. */
export function toLeftEvent(participant: ParticipantRecord, leftAt: Date): NewEvent {
  return {
    type: 'room.left',
    workspaceId: participant.workspaceId,
    data: { ...toEventData(participant), left_at: toUnixSeconds(leftAt) },
  };
}

function toEventData({ joinedAt, ...participant }: ParticipantRecord) {
  // Guaranteed by the constraint participants_joined_check.
  if (joinedAt === null) throw new Error(`Participant ${participant.id} has no joined_at`);
  return {
    workspace_id: participant.workspaceId,
    room_id: participant.roomId,
    room_name: participant.roomName,
    participant_id: participant.id,
    participant_name: participant.name,
    user_id: participant.userId,
    contact_id: participant.contactId,
    joined_at: toUnixSeconds(joinedAt),
  };
}

/**
 * Moves a waiting participant to `joined`: updates the room's `last_used_at`, finds or creates the contact of their
 * email address, and emits `room.joined`. Does nothing for any other status. Returns the participant after the change.
 * Throws 404 "Participant not found".
 */
export async function markJoined(tx: Tx, at: Date, key: ParticipantKey, quotas: Quotas): Promise<ParticipantRecord> {
  const participant = await lockParticipant(tx, key);
  if (participant.status !== 'waiting') return participant;
  const [joined = participant] = await joinAll(tx, at, key, [participant], quotas);
  return joined;
}

/**
 * Moves all waiting participants of a room to `joined`, as `markJoined` does. Call it with the workspace locked, and
 * with the waiting room switched off, so that nobody is waiting afterwards.
 */
export async function admitEveryone(tx: Tx, at: Date, { workspaceId, roomId }: RoomKey, quotas: Quotas): Promise<void> {
  for (let count = ADMITTED_AT_A_TIME; count === ADMITTED_AT_A_TIME; ) {
    const rows = await tx.$queryRaw<ParticipantRow[]>`
      select ${participantColumns} from ${participantTables}
      where p.workspace_id = ${workspaceId} and p.room_id = ${roomId} and p.status = 'waiting'
      order by p.created_at, p.id limit ${ADMITTED_AT_A_TIME} for no key update of p`;
    if (rows.length > 0) await joinAll(tx, at, { workspaceId, roomId }, rows.map(toParticipantRecord), quotas);
    count = rows.length;
  }
}

/** Moves waiting participants of a room, whose rows are locked, to `joined`. */
async function joinAll(
  tx: Tx,
  at: Date,
  { workspaceId, roomId }: RoomKey,
  waiting: readonly ParticipantRecord[],
  quotas: Quotas,
): Promise<ParticipantRecord[]> {
  await tx.$executeRaw`
    update rooms set last_used_at = greatest(last_used_at, ${at})
    where workspace_id = ${workspaceId} and id = ${roomId}`;
  const contactIds = await findOrCreateContacts(tx, quotas, { workspaceId, at }, waiting);
  const joined = waiting.map((participant, index): ParticipantRecord => {
    const contactId = contactIds[index] ?? null;
    return { ...participant, status: 'joined', contactId, joinedAt: at };
  });
  const rows = joined.map(({ id, contactId }) => ({ id, contactId }));
  await tx.$executeRaw`
    update participants p set status = 'joined', joined_at = ${at}, contact_id = j."contactId",
      last_seen_at = greatest(p.last_seen_at, ${at})
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as j (id int, "contactId" int)
    where p.workspace_id = ${workspaceId} and p.id = j.id`;
  await emitAll(
    sqlIn(tx),
    at,
    joined.map((participant) => ({ type: 'room.joined', workspaceId, data: toEventData(participant) })),
  );
  await recordContactEvents(tx, { workspaceId, type: 'room_join', roomId, bookingPageId: null, at }, contactIds);
  return joined;
}

/**
 * Moves a waiting or joined participant to `left`; `left_at` is never before `joined_at`. Emits `room.left` if they had
 * joined. Does nothing for any other status. Returns the participant after the change. Throws 404 "Participant not
 * found".
 */
export async function markLeft(tx: Tx, at: Date, key: ParticipantKey): Promise<ParticipantRecord> {
  const participant = await lockParticipant(tx, key);
  if (participant.status !== 'waiting' && participant.status !== 'joined') return participant;
  const { workspaceId, id } = participant;
  const leftAt = later(at, participant.joinedAt);
  await tx.$executeRaw`
    update participants set status = 'left', left_at = ${leftAt} where workspace_id = ${workspaceId} and id = ${id}`;
  if (participant.status === 'joined') await emit(sqlIn(tx), leftAt, toLeftEvent(participant, leftAt));
  return { ...participant, status: 'left', leftAt };
}

function later(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}

/** Emits `room.left` for every joined participant of a room that is about to be deleted. */
export async function emitLeftForRoom(tx: Tx, at: Date, workspaceId: number, roomId: number): Promise<void> {
  const rows = await tx.$queryRaw<ParticipantRow[]>`
    select ${participantColumns} from ${participantTables}
    where p.workspace_id = ${workspaceId} and p.room_id = ${roomId} and p.status = 'joined'
    order by p.created_at, p.id`;
  await emitAll(
    sqlIn(tx),
    at,
    rows.map(toParticipantRecord).map((participant) => toLeftEvent(participant, later(at, participant.joinedAt))),
  );
}
