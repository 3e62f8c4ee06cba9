/** Applies the joins and leaves that a provider reports. A leave may arrive before its join. */
import { hashToken, isToken } from '../../../auth/tokens.ts';
import { Prisma, type Tx } from '../../../db/client.ts';
import { addParticipant, markJoined, markLeft } from '../../participants/participant-lifecycle.ts';
import {
  type ParticipantRecord,
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from '../../participants/participant-record.ts';
import type { ParticipantEvent } from '../adapters/provider-event.ts';

type JoinedEvent = Extract<ParticipantEvent, { kind: 'participant.joined' }>;
type LeftEvent = Extract<ParticipantEvent, { kind: 'participant.left' }>;

/** The room that an event is about, and the connection that reported it. */
type Scope = { workspaceId: number; roomId: number; connectionId: number };

/** The name of a participant for whom no name is known. */
const DEFAULT_NAME = 'Guest';

type Person = { name: string; email: string | null; userId: number | null };

/** `hasReference`: a provider has reported this participant. */
type Found = ParticipantRecord & { hasReference: boolean };

/**
 * Applies a join or a leave, and emits `room.joined` and `room.left` at most once each. `tx` holds the workspace's
 * lock.
 */
export function applyParticipantEvent(tx: Tx, scope: Scope, event: ParticipantEvent): Promise<void> {
  return event.kind === 'participant.joined' ? applyJoined(tx, scope, event) : applyLeft(tx, scope, event);
}

async function applyJoined(tx: Tx, scope: Scope, event: JoinedEvent): Promise<void> {
  const { workspaceId, roomId } = scope;
  const { participantReference, at } = event;
  const known = await findByReference(tx, scope, participantReference);
  if (known !== null && known.joinedAt !== null) return;
  const tokenHolder = await findByToken(tx, scope, event.token);
  if (tokenHolder !== null && tokenHolder.id === known?.id) return;

  if (tokenHolder !== null && isSameVisit(tokenHolder, at)) {
    if (known !== null) await tx.participant.deleteMany({ where: { workspaceId, id: known.id } });
    await setReference(tx, scope, tokenHolder.id, participantReference);
    await markJoined(tx, at, tokenHolder);
    if (known?.leftAt) await markLeft(tx, known.leftAt, tokenHolder);
    return;
  }

  const person: Person = {
    name: tokenHolder?.name ?? event.name ?? DEFAULT_NAME,
    email: tokenHolder === null ? event.email : tokenHolder.email,
    userId: tokenHolder?.userId ?? null,
  };
  if (known !== null) {
    await resetToWaiting(tx, known, person, at);
    await markJoined(tx, at, known);
    if (known.leftAt !== null) await markLeft(tx, known.leftAt, known);
    return;
  }
  const id = await addReported(tx, scope, person, participantReference, at);
  await markJoined(tx, at, { workspaceId, roomId, id });
}

function findByReference(tx: Tx, scope: Scope, reference: string): Promise<Found | null> {
  return find(
    tx,
    scope,
    Prisma.sql`p.connection_id = ${scope.connectionId} and p.participant_reference = ${reference}`,
  );
}

async function find(tx: Tx, { workspaceId, roomId }: Scope, condition: Prisma.Sql): Promise<Found | null> {
  const [row] = await tx.$queryRaw<(ParticipantRow & { hasReference: boolean })[]>`
    select ${participantColumns}, p.participant_reference is not null as "hasReference" from ${participantTables}
    where p.workspace_id = ${workspaceId} and p.room_id = ${roomId} and ${condition}`;
  return row ? { ...toParticipantRecord(row), hasReference: row.hasReference } : null;
}

/** The participant who joined the room through our join operation and passed its token to the provider. */
async function findByToken(tx: Tx, scope: Scope, token: string | null): Promise<Found | null> {
  return token !== null && isToken('lnp_', token)
    ? find(tx, scope, Prisma.sql`p.token_hash = ${hashToken(token)}`)
    : null;
}

/**
 * Whether a join at `at` belongs to the participant who holds the token, and is not a later visit with the same token.
 */
function isSameVisit({ hasReference, status, leftAt }: Found, at: Date): boolean {
  return !hasReference && status !== 'refused' && (leftAt === null || at <= leftAt);
}

function setReference(tx: Tx, { workspaceId, connectionId }: Scope, id: number, participantReference: string) {
  return tx.participant.update({
    where: { workspaceId_id: { workspaceId, id } },
    data: { connectionId, participantReference },
    select: { id: true },
  });
}

/** Resets a participant who is known only by their leave, so that the join can be applied before it. */
async function resetToWaiting(tx: Tx, { workspaceId, id }: ParticipantRecord, person: Person, at: Date): Promise<void> {
  await tx.participant.update({
    where: { workspaceId_id: { workspaceId, id } },
    data: { ...person, status: 'waiting', leftAt: null, createdAt: at, lastSeenAt: at },
    select: { id: true },
  });
}

/** Adds a participant whom only the provider knows, unless they were added before. Returns the id. */
function addReported(
  tx: Tx,
  { workspaceId, roomId, connectionId }: Scope,
  person: Person,
  participantReference: string,
  at: Date,
): Promise<number> {
  const reference = { connectionId, participantReference };
  return addParticipant(tx, at, { workspaceId, roomId, ...person, tokenHash: null, reference });
}

/** A leave that arrives before its join adds a participant with status `left`, and emits no event. */
async function applyLeft(tx: Tx, scope: Scope, { participantReference, at }: LeftEvent): Promise<void> {
  const person: Person = { name: DEFAULT_NAME, email: null, userId: null };
  const id = await addReported(tx, scope, person, participantReference, at);
  await markLeft(tx, at, { workspaceId: scope.workspaceId, roomId: scope.roomId, id });
}
