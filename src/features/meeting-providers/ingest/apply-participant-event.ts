/** Applies the joins and leaves that a provider reports. A leave may arrive before its join. */
import { hashToken, isToken } from '../../../auth/tokens.ts';
import { sqlIn } from '../../../db/sql.ts';
import { int, nullable, statement, text, time } from '../../../db/statements.ts';
import { readReference } from '../../participants/participant-reference.ts';
import {
  addLaterVisit,
  addUnknownVisit,
  findKnownPerson,
  findKnownVisit,
  isContinuedAt,
  isPartOf,
  type KnownPerson,
} from '../../participants/reported-visits.ts';
import {
  addConnection,
  type ConnectedVisit,
  type ConnectionKey,
  endConnection,
  hasConnection,
} from '../../participants/visit-connections.ts';
import type { ParticipantEvent } from '../adapters/provider-event.ts';
import type { ApplyContext } from './apply-context.ts';
import { type FoundRoom, findRoom, toMeeting } from './find-room.ts';
import { addUnmatched } from './unmatched-callbacks.ts';

type JoinedEvent = Extract<ParticipantEvent, { kind: 'participant.joined' }>;
type LeftEvent = Extract<ParticipantEvent, { kind: 'participant.left' }>;

/** The name of a participant if the provider sends none. */
const DEFAULT_NAME = 'Guest';

/**
 * Applies the beginning or the end of a participant's connection. The connection is looked up before the room, because
 * a room may get a new session while people from the previous session are still in the room. `tx` holds the workspace
 * lock.
 */
export function applyParticipantEvent(context: ApplyContext, event: ParticipantEvent): Promise<void> {
  return event.kind === 'participant.joined' ? applyJoined(context, event) : applyLeft(context, event);
}

async function applyJoined(context: ApplyContext, event: JoinedEvent): Promise<void> {
  const { tx, quotas } = context;
  const sql = sqlIn(tx);
  const key = toConnectionKey(context, event);
  if (await hasConnection(sql, key)) return;
  const room = await findRoom(context, event.room);
  const person = await findPerson(context, event, room);
  const roomId = person?.roomId ?? room?.id;
  if (roomId === undefined) return addUnmatched(context, event, 'unknown_room');
  const { visit, isContinued } = await findOrAddVisit(context, event, roomId, person);
  const connection = { ...key, joinedAt: event.at, leftAt: await takeLeave(context, event) };
  await addConnection(sql, visit, connection, { isContinued, quotas });
}

function toConnectionKey(
  { workspaceId, connectionId }: ApplyContext,
  { room, participantReference: reference }: ParticipantEvent,
): ConnectionKey {
  return { workspaceId, connectionId, meeting: toMeeting(room), reference };
}

/**
 * Finds the person who joined through our join operation and whose reference or token the provider sent. If the room of
 * the event is known, they must have joined that room.
 */
async function findPerson(
  { tx, workspaceId, sealer }: ApplyContext,
  { reference = null, token }: JoinedEvent,
  room: FoundRoom | null,
): Promise<KnownPerson | null> {
  const participantId = reference === null ? null : readReference(sealer, workspaceId, reference);
  const tokenHash = participantId === null && token !== null && isToken('lnp_', token) ? hashToken(token) : null;
  if (participantId === null && tokenHash === null) return null;
  return findKnownPerson(sqlIn(tx), { workspaceId, roomId: room?.id ?? null, participantId, tokenHash });
}

/** Adds a visit for someone who did not use our join operation, and for someone who has come back. */
async function findOrAddVisit(
  { tx, workspaceId }: ApplyContext,
  { at, name, email }: JoinedEvent,
  roomId: number,
  person: KnownPerson | null,
): Promise<{ visit: ConnectedVisit; isContinued: boolean }> {
  const sql = sqlIn(tx);
  if (person === null) {
    const visit = await addUnknownVisit(sql, at, { workspaceId, roomId, name: name ?? DEFAULT_NAME, email });
    return { visit, isContinued: false };
  }
  const visit = await findKnownVisit(sql, at, person);
  if (isPartOf(visit, at)) return { visit, isContinued: isContinuedAt(visit, at) };
  return { visit: await addLaterVisit(sql, at, person, visit), isContinued: false };
}

const takeEnd = statement('take-end-of-connection', {
  params: { workspaceId: int, connectionId: int, meeting: text, reference: text, at: time },
  returns: { leftAt: nullable(time) },
  sql: `
    with left_before as (
      delete from unmatched_callbacks
      where workspace_id = $workspaceId and connection_id = $connectionId and kind = 'participant.left'
        and meeting = $meeting and reference = $reference returning occurred_at)
    select least((select occurred_at from left_before), (
      select ended_at from meeting_ends where workspace_id = $workspaceId and connection_id = $connectionId
        and meeting = $meeting and ended_at >= $at)) as "leftAt"`,
});

/**
 * Returns when the connection ended, if its end or the end of the meeting was reported before its beginning. Otherwise
 * returns null.
 */
async function takeLeave(
  { tx, workspaceId, connectionId }: ApplyContext,
  { room, participantReference: reference, at }: JoinedEvent,
): Promise<Date | null> {
  const meeting = toMeeting(room);
  const [row] = await sqlIn(tx).run(takeEnd, { workspaceId, connectionId, meeting, reference, at });
  return row?.leftAt ?? null;
}

/** If an end arrives before its beginning, stores the end until the beginning arrives. Emits no event. */
async function applyLeft(context: ApplyContext, event: LeftEvent): Promise<void> {
  if (await endConnection(sqlIn(context.tx), event.at, toConnectionKey(context, event))) return;
  const room = await findRoom(context, event.room);
  await addUnmatched(context, event, room === null ? 'unknown_room' : 'unknown_participant');
}
