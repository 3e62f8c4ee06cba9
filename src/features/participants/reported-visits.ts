/**
 * Finds and adds the visits of people whom a meeting provider reports. A provider may name a person by a participant
 * reference or token that an earlier visit of the person received. Call these functions with the workspace locked.
 */
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, bytes, int, nullable, type RowOf, type Sql, statement, text, time } from '../../db/statements.ts';
import {
  type ParticipantRecord,
  participantReturns,
  selectColumns,
  toParticipantRecord,
  withRooms,
} from './participant-record.ts';
import type { ConnectedVisit } from './visit-connections.ts';

/**
 * How long after its last connection has ended a visit continues if the person connects again. A client needs seconds
 * to connect after a change of network.
 */
const RECONNECT_MS = MINUTE_MS;
/** The clock of a provider may be slow, and some providers report whole seconds. */
const CLOCK_TOLERANCE_MS = 10 * SECOND_MS;

const findOne = statement('find-reported-person', {
  params: { workspaceId: int, roomId: nullable(int), participantId: nullable(int), tokenHash: nullable(bytes) },
  returns: {
    participantId: int,
    firstVisitId: int,
    workspaceId: int,
    roomId: int,
    userId: nullable(int),
    name: text,
    email: nullable(text),
    passId: nullable(int),
  },
  sql: `
    select p.id as "participantId", coalesce(p.first_visit_id, p.id) as "firstVisitId",
      p.workspace_id as "workspaceId", p.room_id as "roomId", p.user_id as "userId", p.name, p.email,
      p.pass_id as "passId"
    from participants p
    where p.workspace_id = $workspaceId and ($roomId is null or p.room_id = $roomId)
      and (p.id = $participantId or p.token_hash = $tokenHash)`,
});

/** The person to whom a reference or a token was given. `participantId` is the visit that received it. */
export type KnownPerson = RowOf<typeof findOne>;

/** The visits of a person. Who joined again without a token is found by their account or pass. */
function isPerson(p: string): string {
  return `(${p}.id = $firstVisitId or ${p}.first_visit_id = $firstVisitId
    or ((${p}.user_id = $userId and ${p}.sealed_token is not null or ${p}.pass_id = $passId)
      and ${p}.status in ('waiting', 'joined')))`;
}

/**
 * Prefers, in this order: a visit in progress that had begun at the time, a visit that ended later, a visit in
 * progress, the latest visit. A host has not admitted a waiting person, so only a report about that very visit admits
 * them.
 */
const findVisitAt = statement('find-visit-of-reported-person', {
  params: {
    workspaceId: int,
    roomId: int,
    participantId: int,
    firstVisitId: int,
    userId: nullable(int),
    passId: nullable(int),
    at: time,
    soon: time,
  },
  returns: {
    ...participantReturns,
    tokenHash: nullable(bytes),
    sealedToken: nullable(bytes),
    hasWaitingRoom: bool,
    hasDisconnected: bool,
    isBack: bool,
  },
  sql: `
    select ${selectColumns()}, p.token_hash as "tokenHash", p.sealed_token as "sealedToken",
      r.waiting_room_enabled as "hasWaitingRoom",
      has_disconnected(p.workspace_id, p.id, p.joined_at, p.left_at) as "hasDisconnected",
      exists (
        select from participants o where o.workspace_id = p.workspace_id and o.room_id = p.room_id and o.id <> p.id
          and o.status in ('waiting', 'joined') and ${isPerson('o')}) as "isBack"
    from ${withRooms}
    where p.workspace_id = $workspaceId and p.room_id = $roomId and ${isPerson('p')}
      and (p.status <> 'waiting' or p.id = $participantId)
    order by
      case when p.status in ('waiting', 'joined') then case when p.created_at <= $soon then 0 else 2 end
        when p.left_at > $at then 1 else 3 end,
      case when p.left_at > $at then p.left_at end, p.left_at desc nulls last, p.id desc
    limit 1 for no key update of p`,
});

/**
 * A visit of a known person. `hasDisconnected` means that it ended because its last connection ended. `isBack` means
 * that the person has another visit, which is in progress or waiting.
 */
export type KnownVisit = ParticipantRecord &
  Pick<RowOf<typeof findVisitAt>, 'tokenHash' | 'sealedToken' | 'hasWaitingRoom' | 'hasDisconnected' | 'isBack'>;

const releaseToken = statement('release-participant-token', {
  params: { workspaceId: int, id: int },
  sql: `
    update participants set token_hash = null, sealed_token = null where workspace_id = $workspaceId and id = $id`,
});

const insertVisit = statement('insert-reported-visit', {
  params: {
    workspaceId: int,
    roomId: int,
    name: text,
    email: nullable(text),
    userId: nullable(int),
    passId: nullable(int),
    firstVisitId: nullable(int),
    tokenHash: nullable(bytes),
    sealedToken: nullable(bytes),
    at: time,
  },
  returns: { id: int },
  sql: `
    insert into participants (workspace_id, room_id, name, email, user_id, first_visit_id, token_hash, sealed_token,
      status, created_at, last_seen_at, pass_id, external_id, metadata)
    select $workspaceId, $roomId, $name, $email, $userId, $firstVisitId, $tokenHash, $sealedToken, 'waiting', $at, $at,
      $passId, p.external_id, p.metadata
    from (values (1)) one left join participants p on p.workspace_id = $workspaceId and p.id = $firstVisitId
    returning id`,
});

/** Finds the person by the participant id of a reference or by the hash of a token, in any room or in one room. */
export async function findKnownPerson(
  sql: Sql,
  by: { workspaceId: number; roomId: number | null; participantId: number | null; tokenHash: Uint8Array | null },
): Promise<KnownPerson | null> {
  return (await sql.run(findOne, by))[0] ?? null;
}

/** Finds and locks the visit of the person to which a connection that began at `at` most likely belongs. */
export async function findKnownVisit(sql: Sql, at: Date, person: KnownPerson): Promise<KnownVisit> {
  const { workspaceId, roomId, participantId, firstVisitId, userId, passId } = person;
  const soon = new Date(at.getTime() + CLOCK_TOLERANCE_MS);
  const which = { workspaceId, roomId, participantId, firstVisitId, userId, passId, at, soon };
  return onlyRow((await sql.run(findVisitAt, which)).map((row) => ({ ...row, ...toParticipantRecord(row) })));
}

/**
 * Whether a connection that began at `at` belongs to the visit: the visit is in progress, had not ended at that time,
 * or continues. Otherwise the person has come back for another visit.
 */
export function isPartOf(visit: KnownVisit, at: Date): boolean {
  if (visit.status === 'refused') return false;
  return visit.leftAt === null || at <= visit.leftAt || isContinuedAt(visit, at);
}

/**
 * Whether a visit that has ended continues with a connection that began at `at`. A visit that the person, a host or a
 * timeout has ended does not.
 */
export function isContinuedAt({ leftAt, endReason, hasDisconnected, isBack }: KnownVisit, at: Date): boolean {
  if (leftAt === null || endReason !== null || !hasDisconnected || isBack) return false;
  return at.getTime() <= leftAt.getTime() + RECONNECT_MS;
}

/**
 * Adds another visit of a known person, with status `waiting`. The token of the previous visit becomes valid for this
 * one, if the person could now join again without waiting. Emits no event.
 */
export async function addLaterVisit(
  sql: Sql,
  at: Date,
  { participantId, ...known }: KnownPerson,
  previous: KnownVisit,
): Promise<ConnectedVisit> {
  const { workspaceId, roomId, status, endReason, hasWaitingRoom, roomLocked, isBack } = previous;
  const hasToken = status === 'left' && endReason === null && !hasWaitingRoom && !roomLocked && !isBack;
  const { tokenHash, sealedToken } = hasToken ? previous : { tokenHash: null, sealedToken: null };
  if (hasToken) await sql.run(releaseToken, { workspaceId, id: previous.id });
  return insert(sql, at, { ...known, workspaceId, roomId, tokenHash, sealedToken });
}

type NewVisit = Omit<KnownPerson, 'participantId' | 'firstVisitId'> & {
  firstVisitId: number | null;
} & Pick<KnownVisit, 'tokenHash' | 'sealedToken'>;

async function insert(sql: Sql, at: Date, visit: NewVisit): Promise<ConnectedVisit> {
  const { id } = onlyRow(await sql.run(insertVisit, { ...visit, at }));
  return { workspaceId: visit.workspaceId, roomId: visit.roomId, id, status: 'waiting', leftAt: null };
}

/** Adds the visit of a person whom only the provider knows, with status `waiting`. Emits no event. */
export function addUnknownVisit(
  sql: Sql,
  at: Date,
  person: { workspaceId: number; roomId: number; name: string; email: string | null },
): Promise<ConnectedVisit> {
  const unknown = { userId: null, passId: null, firstVisitId: null, tokenHash: null, sealedToken: null };
  return insert(sql, at, { ...person, ...unknown });
}
