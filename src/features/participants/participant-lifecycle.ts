/**
 * Entering and leaving a room, whoever tells of it: the participant themself, a host, a meeting provider or the clock.
 * They find the workspace's row locked (see lock-workspace.ts). `at` is when it happened.
 */
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import type { NewEvent } from '../../events/catalogue.ts';
import { emit, emitAll } from '../../events/emit.ts';
import { findOrCreateContact } from '../contacts/find-or-create-contact.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import {
  lockParticipant,
  type ParticipantKey,
  type ParticipantRecord,
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from './participant-record.ts';

/** What the provider behind a meeting connection calls one presence in a room; another connection may say the same. */
export type ProviderReference = { connectionId: number; participantReference: string };

export type NewParticipant = {
  workspaceId: number;
  roomId: number;
  name: string;
  email: string | null;
  /** Who is signed in; null: a guest. */
  userId: number | null;
  /** SHA-256 of the token of the joining side; null: known from a provider alone. */
  tokenHash: Uint8Array<ArrayBuffer> | null;
  /** null: known from our own operations alone. */
  reference: ProviderReference | null;
};

/**
 * Adds a participant who waits to be let in, and emits nothing; one whose reference is known in the room already is not
 * added again. Returns their id. Throws a foreign key violation for a room or user that was deleted meanwhile.
 */
export async function addParticipant(tx: Tx, at: Date, { reference, ...participant }: NewParticipant): Promise<number> {
  const { workspaceId, roomId } = participant;
  const select = { id: true } as const;
  if (reference !== null) {
    const known = await tx.participant.findUnique({
      where: { workspaceId_roomId_connectionId_participantReference: { workspaceId, roomId, ...reference } },
      select,
    });
    if (known !== null) return known.id;
  }
  const data = { ...participant, ...reference, status: 'waiting', createdAt: at, lastSeenAt: at };
  const { id } = await tx.participant.create({ data, select });
  return id;
}

/** `room.left`, of someone who had joined. */
export function toLeftEvent(visit: ParticipantRecord, leftAt: Date): NewEvent {
  return {
    type: 'room.left',
    workspaceId: visit.workspaceId,
    data: { ...toEventData(visit), left_at: toUnixSeconds(leftAt) },
  };
}

function toEventData({ joinedAt, ...visit }: ParticipantRecord) {
  // The database holds who joined to it (participants_joined_check).
  if (joinedAt === null) throw new Error(`Participant ${visit.id} joined at no time`);
  return {
    workspace_id: visit.workspaceId,
    room_id: visit.roomId,
    room_name: visit.roomName,
    participant_id: visit.id,
    participant_name: visit.name,
    user_id: visit.userId,
    contact_id: visit.contactId,
    joined_at: toUnixSeconds(joinedAt),
  };
}

/**
 * Lets somebody in who waits: the room was used, a contact came (by the email address, where there is one), and
 * `room.joined` is emitted. For who does not wait (any more) nothing happens. Returns the participant as they are then.
 * Throws 404 "Participant not found".
 */
export async function markJoined(tx: Tx, at: Date, key: ParticipantKey): Promise<ParticipantRecord> {
  const visit = await lockParticipant(tx, key);
  if (visit.status !== 'waiting') return visit;
  const { workspaceId, roomId, id, name, email } = visit;
  await tx.$executeRaw`
    update rooms set last_used_at = greatest(last_used_at, ${at}) where workspace_id = ${workspaceId} and id = ${roomId}`;
  const contactId = await findOrCreateContact(tx, { workspaceId, name, email, at });
  await tx.$executeRaw`
    update participants set status = 'joined', joined_at = ${at}, contact_id = ${contactId}::int,
      last_seen_at = greatest(last_seen_at, ${at})
    where workspace_id = ${workspaceId} and id = ${id}`;
  const entered: ParticipantRecord = { ...visit, status: 'joined', contactId, joinedAt: at };
  await emit(tx, at, { type: 'room.joined', workspaceId, data: toEventData(entered) });
  await recordContactEvent(tx, { workspaceId, type: 'room_join', contactId, roomId, bookingPageId: null, at });
  return entered;
}

/**
 * Lets somebody go who joined or waits, and emits `room.left` for who joined; nobody leaves before they joined. For who
 * left or was refused nothing happens. Returns the participant as they are then. Throws 404 "Participant not found".
 */
export async function markLeft(tx: Tx, at: Date, key: ParticipantKey): Promise<ParticipantRecord> {
  const visit = await lockParticipant(tx, key);
  if (visit.status !== 'waiting' && visit.status !== 'joined') return visit;
  const { workspaceId, id } = visit;
  const leftAt = later(at, visit.joinedAt);
  await tx.$executeRaw`
    update participants set status = 'left', left_at = ${leftAt} where workspace_id = ${workspaceId} and id = ${id}`;
  if (visit.status === 'joined') await emit(tx, leftAt, toLeftEvent(visit, leftAt));
  return { ...visit, status: 'left', leftAt };
}

function later(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}

/** Emits `room.left` for everyone who is in a room that is about to be deleted. */
export async function emitLeftForRoom(tx: Tx, at: Date, workspaceId: number, roomId: number): Promise<void> {
  const rows = await tx.$queryRaw<ParticipantRow[]>`
    select ${participantColumns} from ${participantTables}
    where p.workspace_id = ${workspaceId} and p.room_id = ${roomId} and p.status = 'joined' order by p.created_at, p.id`;
  await emitAll(
    tx,
    at,
    rows.map(toParticipantRecord).map((visit) => toLeftEvent(visit, later(at, visit.joinedAt))),
  );
}
