/** Finds a participant who joins again while still present, for example after reloading the page. */
import type { Caller } from '../../auth/identify.ts';
import { requireSatisfied } from '../../auth/sign-in-requirements.ts';
import { createToken, hashToken, isToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import type { Sealer } from '../../core/sealing.ts';
import { bool, bytes, int, json, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import { type MediaRow, mediaColumnsOf, mediaReturns } from '../peers/media.ts';
import {
  type ParticipantRecord,
  participantReturns,
  selectColumns,
  toParticipantRecord,
} from './participant-record.ts';
import { hostParams, isHost, isMember, toHost } from './room-access.ts';

/** `token` is the token that the participant sent. It is null if they were found by their user id. */
export type Present = { id: number; token: string | null; sealedToken: Uint8Array | null };

/**
 * The room and, in `present`, the participant who is joining again. `present` is null if the caller is neither in the
 * room nor waiting.
 */
export type RoomToJoin = {
  workspaceId: number;
  roomId: number;
  mayEnter: boolean;
  /** The pass of the person, while it is valid. */
  pass: Pass | null;
  present: Present | null;
};

/** What a pass says about its holder. A pass that admits lets them past the waiting room. */
export type Pass = Pick<ParticipantRecord, 'name' | 'email' | 'externalId' | 'metadata' | 'mayRecord'> & {
  id: number;
  isAdmitted: boolean;
};

/** The pass for which a person joins. Null if only their token can name one. */
export type PassId = number | null;

const isPresent = `p.workspace_id = r.workspace_id and p.room_id = r.id and p.status in ('waiting', 'joined')`;

const findRoomToJoin = statement('find-room-to-join', {
  params: { roomName: text, tokenHash: nullable(bytes), passId: nullable(int), now: time, ...hostParams },
  returns: {
    workspaceId: int,
    roomId: int,
    mayEnter: bool,
    id: nullable(int),
    sealedToken: nullable(bytes),
    hasToken: nullable(bool),
    pass: nullable(json<Pass>('json')),
  },
  sql: `
    select r.workspace_id as "workspaceId", r.id as "roomId",
      ((not r.waiting_room_enabled or ${isMember} or coalesce(q.is_admitted, false)) and r.locked_at is null
        and p.barred_until is null)
        or (${isHost}) or is_pass_host(r.workspace_id, q.id, $now) as "mayEnter", p.id,
      p.sealed_token as "sealedToken", p."hasToken",
      case when q.id is not null then json_build_object('id', q.id, 'name', q.name, 'email', q.email,
        'externalId', q.external_id, 'metadata', q.metadata, 'mayRecord', q.may_record,
        'isAdmitted', q.is_admitted) end as pass
    from rooms r left join members m on m.workspace_id = r.workspace_id and m.user_id = $userId
    left join room_passes q on q.workspace_id = r.workspace_id and q.room_id = r.id and q.expires_at > $now
      and q.id = coalesce($passId, (
        select e.pass_id from participants e
        where e.token_hash = $tokenHash and e.workspace_id = r.workspace_id and e.room_id = r.id))
    left join lateral (
      select p.id, p.sealed_token, p.barred_until, 2 as rank, true as "hasToken" from participants p
      where p.token_hash = $tokenHash and ${isPresent}
        and ($userId is null or p.user_id is null or p.user_id = $userId)
      union all
      select p.id, p.sealed_token, p.barred_until, 1, false from participants p
      where p.workspace_id = q.workspace_id and p.pass_id = q.id and ${isPresent}
      union all
      select p.id, p.sealed_token, p.barred_until, 0, false from participants p
      where q.id is null and p.user_id = $userId and p.sealed_token is not null and ${isPresent}
      order by rank desc limit 1) p on true
    where r.name = $roomName`,
});

const touch = statement('touch-participant', {
  params: { workspaceId: int, id: int, now: time },
  returns: { ...participantReturns, ...mediaReturns, waitingRoomMessage: nullable(text) },
  sql: `
    update participants p set last_seen_at = greatest(p.last_seen_at, $now) from rooms r
    where p.workspace_id = $workspaceId and p.id = $id and p.status in ('waiting', 'joined')
      and r.workspace_id = p.workspace_id and r.id = p.room_id
    returning ${selectColumns('$now')}, ${mediaColumnsOf('p.id')}, r.waiting_room_message as "waitingRoomMessage"`,
});

const storeToken = statement('replace-participant-token', {
  params: { workspaceId: int, id: int, tokenHash: bytes, sealedToken: bytes, replaced: bytes },
  returns: { id: int },
  sql: `
    update participants set token_hash = $tokenHash, sealed_token = $sealedToken
    where workspace_id = $workspaceId and id = $id and sealed_token = $replaced returning id`,
});

/**
 * Finds the room and, among the participants who are waiting or have joined, the holder of `token`. If there is none,
 * finds the holder of the pass or, without one, the caller by their user id. Ignores a token that belongs to another
 * user. Throws 404 "Room not found", and 403 as `requireSatisfied` does.
 */
export async function findPresent(
  sql: Sql,
  caller: Caller | null,
  roomName: string,
  { token, passId, now }: { token: string | null | undefined; passId: PassId; now: Date },
): Promise<RoomToJoin> {
  const sent = token && isToken('lnp_', token) ? token : null;
  const tokenHash = sent === null ? null : hashToken(sent);
  const [row] = await sql.run(findRoomToJoin, { roomName, tokenHash, passId, now, ...toHost(caller) });
  if (!row) throw notFound('Room');
  if (caller !== null) requireSatisfied(caller, row.workspaceId);
  const { id, sealedToken, hasToken, ...room } = row;
  return { ...room, present: id === null ? null : { id, sealedToken, token: hasToken ? sent : null } };
}

/** Stores a heartbeat of a participant. Returns null if they are no longer present. */
export async function touchPresent(
  sql: Sql,
  now: Date,
  { workspaceId }: { workspaceId: number },
  { id }: Present,
): Promise<{ participant: ParticipantRecord; waitingRoomMessage: string | null; media: MediaRow } | null> {
  const [row] = await sql.run(touch, { workspaceId, id, now });
  if (!row) return null;
  const { waitingRoomMessage, ...participant } = row;
  return { participant: toParticipantRecord(participant), waitingRoomMessage, media: row };
}

/**
 * Returns the token of a participant who is still present. It is normally the token that they already have; if the
 * encryption key has changed since they joined, it is a new one. Returns null if a concurrent call has replaced the
 * token.
 */
export async function toPresentToken(
  sql: Sql,
  sealer: Sealer,
  { workspaceId }: { workspaceId: number },
  { id, token: sent, sealedToken: replaced }: Present,
): Promise<string | null> {
  if (sent !== null || replaced === null) return sent;
  const context = { workspaceId, purpose: 'participant token' } as const;
  try {
    return sealer.open(replaced, context);
  } catch {
    const token = createToken('lnp_');
    const sealedToken = sealer.seal(token, context);
    const rows = await sql.run(storeToken, { workspaceId, id, tokenHash: hashToken(token), sealedToken, replaced });
    return rows.length === 0 ? null : token;
  }
}
