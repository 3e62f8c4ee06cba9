/** Applies the joins and leaves that a provider reports. A leave may arrive before its join. */
import { hashToken, isToken } from '../../../auth/tokens.ts';
import { Prisma } from '../../../db/client.ts';
import { sqlIn } from '../../../db/sql.ts';
import { addReported, markJoined, markLeft } from '../../participants/participant-lifecycle.ts';
import {
  type ParticipantKey,
  type ParticipantRecord,
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from '../../participants/participant-record.ts';
import type { ParticipantEvent } from '../adapters/provider-event.ts';
import type { ApplyContext } from './apply-context.ts';
import { type FoundRoom, findRoom, toMeeting } from './find-room.ts';
import { addUnmatched } from './unmatched-callbacks.ts';

type JoinedEvent = Extract<ParticipantEvent, { kind: 'participant.joined' }>;
type LeftEvent = Extract<ParticipantEvent, { kind: 'participant.left' }>;

/** The name of a participant if the provider sends none. */
const DEFAULT_NAME = 'Guest';

/** `hasReference` is true if a provider has reported this participant. */
type Found = ParticipantRecord & { hasReference: boolean };

/**
 * Applies a join or a leave, and emits `room.joined` and `room.left` at most once each. The participant is looked up
 * before the room, because a room may get a new session while people from the previous session are still in the room.
 * `tx` holds the workspace lock.
 */
export function applyParticipantEvent(context: ApplyContext, event: ParticipantEvent): Promise<void> {
  return event.kind === 'participant.joined' ? applyJoined(context, event) : applyLeft(context, event);
}

async function applyJoined(context: ApplyContext, event: JoinedEvent): Promise<void> {
  const { tx, quotas } = context;
  const { at } = event;
  if ((await findByReference(context, event)) !== null) return;
  const room = await findRoom(context, event.room);
  const holder = await findByToken(context, event.token, room);
  const roomId = room?.id ?? holder?.roomId;
  if (roomId === undefined) return addUnmatched(context, event, 'unknown_room');
  const participant =
    holder !== null && isSameVisit(holder, at)
      ? await setReference(context, holder, event)
      : await addVisit(context, roomId, holder, event);
  await markJoined(sqlIn(tx), at, participant, quotas);
  const leftAt = await takeLeave(context, event);
  if (leftAt !== null) await markLeft(sqlIn(tx), leftAt, participant);
}

function findByReference(
  context: ApplyContext,
  { room, participantReference }: ParticipantEvent,
): Promise<Found | null> {
  return find(
    context,
    Prisma.sql`p.connection_id = ${context.connectionId} and p.meeting = ${toMeeting(room)}
      and p.participant_reference = ${participantReference}`,
  );
}

/** Locks the participant, who may leave or join again concurrently. */
async function find({ tx, workspaceId }: ApplyContext, condition: Prisma.Sql): Promise<Found | null> {
  const [row] = await tx.$queryRaw<(ParticipantRow & { hasReference: boolean })[]>`
    select ${participantColumns}, p.participant_reference is not null as "hasReference" from ${participantTables}
    where p.workspace_id = ${workspaceId} and ${condition} for no key update of p`;
  return row ? { ...toParticipantRecord(row), hasReference: row.hasReference } : null;
}

/**
 * Finds the participant who joined through our join operation and whose token the provider sent. If the room of the
 * event is known, they must have joined that room.
 */
async function findByToken(context: ApplyContext, token: string | null, room: FoundRoom | null): Promise<Found | null> {
  if (token === null || !isToken('lnp_', token)) return null;
  const inRoom = room === null ? Prisma.empty : Prisma.sql`and p.room_id = ${room.id}`;
  return find(context, Prisma.sql`p.token_hash = ${hashToken(token)} ${inRoom}`);
}

/**
 * Whether a join at `at` belongs to the visit that the token was issued for, and not to a later visit with the same
 * token.
 */
function isSameVisit({ hasReference, status, leftAt }: Found, at: Date): boolean {
  return !hasReference && status !== 'refused' && (leftAt === null || at <= leftAt);
}

async function setReference(
  { tx, workspaceId, connectionId }: ApplyContext,
  { id, roomId }: ParticipantKey,
  { room, participantReference }: JoinedEvent,
): Promise<ParticipantKey> {
  await tx.participant.update({
    where: { workspaceId_id: { workspaceId, id } },
    data: { connectionId, meeting: toMeeting(room), participantReference },
    select: { id: true },
  });
  return { workspaceId, roomId, id };
}

/** Adds a participant who did not use our join operation, or a later visit by the holder of a token. */
async function addVisit(
  { tx, workspaceId, connectionId }: ApplyContext,
  roomId: number,
  holder: Found | null,
  { room, participantReference, name, email, at }: JoinedEvent,
): Promise<ParticipantKey> {
  const person = holder ?? { name: name ?? DEFAULT_NAME, email, userId: null };
  const id = await addReported(sqlIn(tx), at, {
    workspaceId,
    roomId,
    name: person.name,
    email: person.email,
    userId: person.userId,
    connectionId,
    meeting: toMeeting(room),
    participantReference,
  });
  return { workspaceId, roomId, id };
}

/**
 * Returns when the participant left, if their leave or the end of the meeting was reported before their join. Otherwise
 * returns null.
 */
async function takeLeave(
  { tx, workspaceId, connectionId }: ApplyContext,
  { room, participantReference, at }: JoinedEvent,
): Promise<Date | null> {
  const meeting = toMeeting(room);
  const [row] = await tx.$queryRaw<{ leftAt: Date | null }[]>`
    with left_before as (
      delete from unmatched_callbacks
      where workspace_id = ${workspaceId} and connection_id = ${connectionId} and kind = 'participant.left'
        and meeting = ${meeting} and reference = ${participantReference} returning occurred_at)
    select least((select occurred_at from left_before), (
      select ended_at from meeting_ends where workspace_id = ${workspaceId} and connection_id = ${connectionId}
        and meeting = ${meeting} and ended_at >= ${at})) as "leftAt"`;
  return row?.leftAt ?? null;
}

/** If a leave arrives before its join, stores the leave until the join arrives. Emits no event. */
async function applyLeft(context: ApplyContext, event: LeftEvent): Promise<void> {
  const participant = await findByReference(context, event);
  if (participant !== null) {
    await markLeft(sqlIn(context.tx), event.at, participant);
    return;
  }
  const room = await findRoom(context, event.room);
  await addUnmatched(context, event, room === null ? 'unknown_room' : 'unknown_participant');
}
