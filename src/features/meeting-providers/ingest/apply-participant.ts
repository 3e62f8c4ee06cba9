/** What a provider tells of who comes and goes. The leave may come before the join. */
import { hashToken, isToken } from '../../../auth/tokens.ts';
import { Prisma } from '../../../db/client.ts';
import { addParticipant, enterRoom, leaveRoom } from '../../participants/enter-room.ts';
import { toVisit, type Visit, type VisitRow, visitColumns, visitTables } from '../../participants/visit.ts';
import type { MeetingFact } from '../adapters/facts.ts';
import type { ApplyContext, FoundRoom } from './apply-context.ts';

type Joined = Extract<MeetingFact, { kind: 'participant.joined' }>;
type Left = Extract<MeetingFact, { kind: 'participant.left' }>;

/** What somebody is called of whom no name is known. */
const NAMELESS = 'Guest';

type Person = { name: string; email: string | null; userId: number | null };

type Found = Visit & { isReferenced: boolean };

export function applyParticipantFact(context: ApplyContext, room: FoundRoom, fact: Joined | Left): Promise<void> {
  return fact.kind === 'participant.joined' ? applyJoined(context, room, fact) : applyLeft(context, room, fact);
}

async function applyJoined(context: ApplyContext, room: FoundRoom, fact: Joined): Promise<void> {
  const { tx } = context;
  const { participantReference, at } = fact;
  const known = await findByReference(context, room, participantReference);
  if (known !== null && known.joinedAt !== null) return;
  const holder = await findByToken(context, room, fact.token);
  if (holder !== null && holder.id === known?.id) return;

  if (holder !== null && isSameVisit(holder, at)) {
    if (known !== null) await tx.participant.deleteMany({ where: { workspaceId: room.workspaceId, id: known.id } });
    await bindReference(context, holder, participantReference);
    await enterRoom(tx, at, holder);
    if (known?.leftAt) await leaveRoom(tx, known.leftAt, holder);
    return;
  }

  const person: Person = {
    name: holder?.name ?? fact.name ?? NAMELESS,
    email: holder === null ? fact.email : holder.email,
    userId: holder?.userId ?? null,
  };
  if (known !== null) {
    await resetToWaiting(context, known, person, at);
    await enterRoom(tx, at, known);
    if (known.leftAt !== null) await leaveRoom(tx, known.leftAt, known);
    return;
  }
  const id = await addParticipant(tx, at, { ...room, ...person, ...knownTo(context, participantReference) });
  await enterRoom(tx, at, { ...room, id });
}

function findByReference(context: ApplyContext, room: FoundRoom, reference: string): Promise<Found | null> {
  return find(
    context,
    room,
    Prisma.sql`p.connection_id = ${context.connectionId} and p.participant_reference = ${reference}`,
  );
}

async function find({ tx }: ApplyContext, room: FoundRoom, condition: Prisma.Sql): Promise<Found | null> {
  const [row] = await tx.$queryRaw<(VisitRow & { isReferenced: boolean })[]>`
    select ${visitColumns}, p.participant_reference is not null as "isReferenced" from ${visitTables}
    where p.workspace_id = ${room.workspaceId} and p.room_id = ${room.roomId} and ${condition}`;
  return row ? { ...toVisit(row), isReferenced: row.isReferenced } : null;
}

/** Who joined this room by our own operation, and showed the provider the token of it. */
async function findByToken(context: ApplyContext, room: FoundRoom, token: string | null): Promise<Found | null> {
  return token !== null && isToken('lnp_', token)
    ? find(context, room, Prisma.sql`p.token_hash = ${hashToken(token)}`)
    : null;
}

/** Whether a presence is that of somebody who came by our operation, and not one that they began later on. */
function isSameVisit({ isReferenced, status, leftAt }: Found, at: Date): boolean {
  return !isReferenced && status !== 'refused' && (leftAt === null || at <= leftAt);
}

function bindReference({ tx, connectionId }: ApplyContext, { workspaceId, id }: Visit, participantReference: string) {
  return tx.participant.update({
    where: { workspaceId_id: { workspaceId, id } },
    data: { connectionId, participantReference },
    select: { id: true },
  });
}

/** Turns who is known by their leave alone into somebody who has not come yet. */
async function resetToWaiting(
  { tx }: ApplyContext,
  { workspaceId, id }: Visit,
  person: Person,
  at: Date,
): Promise<void> {
  await tx.participant.update({
    where: { workspaceId_id: { workspaceId, id } },
    data: { ...person, status: 'waiting', leftAt: null, createdAt: at, lastSeenAt: at },
    select: { id: true },
  });
}

/** How somebody is known of whom only the provider tells. */
function knownTo({ connectionId }: ApplyContext, participantReference: string) {
  return {
    tokenHash: null,
    reference: { connectionId, participantReference },
  };
}

/** Somebody whose join is still to come leaves a row behind that says when they left, and no event. */
async function applyLeft(context: ApplyContext, room: FoundRoom, { participantReference, at }: Left): Promise<void> {
  const person: Person = { name: NAMELESS, email: null, userId: null };
  const known = knownTo(context, participantReference);
  const id = await addParticipant(context.tx, at, { ...room, ...person, ...known });
  await leaveRoom(context.tx, at, { ...room, id });
}
