import type { Caller } from '../../auth/identify.ts';
import { createToken, hashToken, isToken } from '../../auth/tokens.ts';
import { runRepeatable } from '../../core/call-bounds.ts';
import {
  badField,
  membersOnly,
  notFound,
  roomFull,
  roomLocked,
  tooManyTries,
  unauthorized,
} from '../../core/errors.ts';
import { readSlug } from '../../core/slugs.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, nullable, oneOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { toContactAddress } from '../contacts/contact-address.ts';
import { mediaColumnsOf, mediaReturns, toMedia } from '../peers/media.ts';
import {
  findPresent,
  type PassId,
  type Present,
  type RoomToJoin,
  toPresentToken,
  touchPresent,
} from './find-present.ts';
import { afterJoin, beforeJoin, joinParams } from './joining.ts';
import { markJoined } from './participant-lifecycle.ts';
import { createReference, toVisitor } from './participant-reference.ts';
import { toParticipantStatus } from './participant-status.ts';
import { toFlagOrNull, toOwnParticipant } from './present.ts';
import { findRoomAccess, hostParams, isHost, isMember, lockRoomAccess, toHost } from './room-access.ts';
import { countFreePlaces } from './room-limits.ts';
import type { JoinAnswer, JoinInput } from './schemas.ts';

type Needs = Pick<Services, 'db' | 'clock' | 'sealer' | 'settings' | 'livekitEgress'>;

const MAX_TRIES = 10;

/** Rolls back a transaction that must be retried because the data has changed concurrently. */
class ChangedError extends Error {}

/**
 * Adds a participant in one statement. Returns no row if the room does not exist. Returns the room without a
 * participant if the room refuses the caller (`refusal`), or if the statement must be run again, because it waited
 * for a lock and cannot see what was committed meanwhile.
 *
 * The room cannot be deleted before the commit. If the participant must go to the waiting room, the statement also
 * locks the room's row against updates (`guarded`), so that nobody enters the waiting room while it is being switched
 * off. If the participant enters the room directly, this lock is not needed, because entering updates the row.
 *
 * Locking the room to newcomers, closing the meeting and removing a participant run in a transaction that waits for
 * joins that hold a lock on the room's row, and that blocks later joins until it commits. A join that was blocked then
 * computes `entry` with the function `check_room_entry`, which has its own snapshot and therefore sees what that
 * transaction committed. Changing `members_only` or `max_participants` also blocks joins. Only in a room with a limit,
 * joins that would enter wait for each other, in the function `count_free_places`. Hosts enter a full room, and count.
 */
const addParticipant = statement('join-room', {
  params: {
    roomName: text,
    /** The workspace that the token was sealed for; null if the token was not sealed. */
    workspaceId: nullable(int),
    name: text,
    email: nullable(text),
    address: nullable(text),
    tokenHash: bytes,
    sealedToken: nullable(bytes),
    /** The token of an earlier visit. */
    earlierTokenHash: nullable(bytes),
    passId: nullable(int),
    ...hostParams,
    ...joinParams,
    now: time,
  },
  returns: {
    workspace_id: int,
    room_id: int,
    room_name: text,
    waiting_room_message: nullable(text),
    id: nullable(int),
    status: nullable(text),
    is_locked: bool,
    refusal: nullable(oneOf<'locked' | 'members_only' | 'full'>()),
    max_participants: nullable(int),
    is_host: bool,
    is_member: bool,
    ...mediaReturns,
  },
  hasChanged: ([row]) => row?.id != null,
  sql: `
    with workspace as (
      select w.id from rooms r join workspaces w on w.id = r.workspace_id
      where r.name = $roomName and ($workspaceId is null or w.id = $workspaceId) for key share of w),
    member as (
      select m.role from workspace w join members m on m.workspace_id = w.id and m.user_id = $userId
      for share of m),
    room as (
      select r.workspace_id, r.id, r.name, r.waiting_room_message, r.media, r.relay_only, r.max_participants,
        
        (${isHost}) or is_pass_host(r.workspace_id, q.id, $at) as is_host, (${isMember}) as is_member,
        r.waiting_room_enabled and not (${isHost} or ${isMember} or coalesce(q.is_admitted, false)
          or is_pass_host(r.workspace_id, q.id, $at)) as must_wait,
        r.members_only and not (${isHost} or ${isMember} or q.id is not null) as is_for_others,
        q.id as pass_id, q.external_id, q.metadata
      from workspace w left join member m on true join rooms r on r.workspace_id = w.id and r.name = $roomName
      left join room_passes q on q.workspace_id = w.id and q.room_id = r.id and q.id = $passId and q.expires_at > $at
      for key share of r),
    entry as (
      select e.is_locked, case when not r.is_host then e.barred_until end as barred_until,
        r.must_wait and not e.was_admitted as must_wait,
        case when e.is_locked and not e.was_inside and not r.is_host then 'locked'
          when r.is_for_others then 'members_only'
          when r.max_participants is null or r.is_host then null
          when e.barred_until is not null then null
          when r.must_wait and not e.was_admitted then null
          when count_free_places(r.workspace_id, r.id) < 1 then 'full' end as refusal
      from room r, check_room_entry(r.workspace_id, r.id, $userId, $address, $name, $earlierTokenHash, $passId,
        $at) e),
    guarded as (
      select r.waiting_room_enabled from entry e, room o
      join rooms r on r.workspace_id = o.workspace_id and r.id = o.id
      where e.must_wait for share of r),
    visited as (
      select r.workspace_id, r.id, r.name, r.pass_id, r.external_id, r.metadata,
        e.must_wait or e.barred_until is not null as must_wait, e.barred_until
      from room r join entry e on e.refusal is null left join guarded g on true
      where g.waiting_room_enabled is not false and ($passId is null or r.pass_id is not null)),
    joining as (
      select workspace_id, id as room_id, name as room_name, $name as name, $address as address, 0 as position
      from visited where not must_wait),
    ${beforeJoin},
    changed as (
      insert into participants (workspace_id, room_id, name, email, user_id, contact_id, status, token_hash,
        sealed_token, created_at, joined_at, last_seen_at, barred_until, pass_id, external_id, metadata,
        first_visit_id)
      select v.workspace_id, v.id, $name, $email, $userId, c.id, case when v.must_wait then 'waiting' else 'joined' end,
        $tokenHash, $sealedToken, $at, case when not v.must_wait then $at end, $at, v.barred_until, v.pass_id,
        v.external_id, v.metadata, (
          select coalesce(e.first_visit_id, e.id) from participants e
          where e.workspace_id = v.workspace_id and e.room_id = v.id and e.token_hash = $earlierTokenHash
            and e.status = 'left' and e.end_reason is null and (e.user_id is null or e.user_id = $userId))
      from visited v left join contact c on true
      where v.must_wait or $address is null or c.address is not null
      on conflict do nothing
      returning *),
    ${afterJoin}
    select r.workspace_id, r.id as room_id, r.name as room_name, r.waiting_room_message, c.id, c.status, e.is_locked,
      e.refusal, r.max_participants, r.is_host, r.is_member, ${mediaColumnsOf('c.id')}
    from room r join entry e on true left join changed c on true`,
});

/** Where the statements of a join run: each by itself, or all of them in one transaction. */
type Place = { sql: Sql; transact: <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result> };

/**
 * Joins a room. If the room has a waiting room and the caller is neither one of its hosts nor a member of its
 * workspace, the participant waits to be admitted, unless their token shows that they were in the meeting within the
 * last hour, or that they have a pass that admits them. The holder of a pass joins as the person whom the pass names. A
 * person whom a host has removed waits too, even a member. If a user or the holder of a token joins again while still
 * present, the participant and the token stay the same, and no event is emitted. The token is stored as a hash and, for
 * a user, also sealed. Throws 400 for a guest without a name, 404 "Room not found", and 401 if the user's account is
 * deleted concurrently. Throws 403 if the room is locked, except for its hosts and people who have been in the meeting,
 * 403 if it is only for members and the caller is not one, and 409 if it is full and the caller is no host.
 */
export async function joinRoom(services: Needs, caller: Caller | null, input: JoinInput): Promise<JoinAnswer> {
  // A token may belong to a participant who is still present, or who has a pass, and therefore needs no name.
  if (!input.token) toPerson(caller, input);
  const { db } = services;
  const place: Place = { sql: db.sql, transact: (work) => transact(db, work) };
  return keepJoining(services, place, caller, input, null);
}

/**
 * Joins a room with a pass, in the transaction that has locked it, like `joinRoom` with the token of an earlier visit.
 * The holder of a pass is present once, so the answer has the token of the visit in progress if there is one.
 */
export function joinWithPass(
  services: Needs,
  tx: Tx,
  { roomName, passId }: { roomName: string; passId: number },
): Promise<JoinAnswer> {
  const place: Place = { sql: sqlIn(tx), transact: (work) => work(tx) };
  return keepJoining(services, place, null, { roomName }, passId);
}

async function keepJoining(
  services: Needs,
  place: Place,
  caller: Caller | null,
  input: JoinInput,
  passId: PassId,
): Promise<JoinAnswer> {
  const roomName = readSlug(input.roomName);
  if (roomName === null) throw notFound('Room');
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const joined = await tryToJoin(services, place, caller, { ...input, roomName }, passId);
    if (joined !== null) return joined;
  }
  throw tooManyTries();
}

/** Returns null if the data has changed concurrently. The caller must then try again. */
async function tryToJoin(
  services: Needs,
  place: Place,
  caller: Caller | null,
  input: JoinInput,
  passId: PassId,
): Promise<JoinAnswer | null> {
  // A guest without a token or a pass is always a new participant.
  if (caller === null && !input.token && passId === null) return addNew(services, place, caller, input, null);
  const { roomName, token } = input;
  const room = await findPresent(place.sql, caller, roomName, { token, passId, now: services.clock.now() });
  if (room.present !== null) return rejoin(services, place, caller, input, room, room.present);
  // Who has a pass comes as the person whom it names, also in a browser in which somebody is signed in.
  return addNew(services, place, room.pass === null ? caller : null, input, room);
}

/** Adds a participant with a new token. */
async function addNew(
  services: Needs,
  { sql }: Place,
  caller: Caller | null,
  input: JoinInput,
  room: RoomToJoin | null,
): Promise<JoinAnswer | null> {
  const { clock, sealer, settings } = services;
  const pass = room?.pass ?? null;
  const person = pass === null ? toPerson(caller, input) : { name: pass.name, email: pass.email };
  const token = createToken('lnp_');
  const workspaceId = caller === null && pass === null ? null : (room?.workspaceId ?? null);
  const sealedToken = workspaceId === null ? null : sealer.seal(token, { workspaceId, purpose: 'participant token' });
  const at = clock.now();
  const rows = await sql
    .run(addParticipant, {
      roomName: input.roomName,
      workspaceId,
      ...person,
      address: toContactAddress(person.email),
      tokenHash: hashToken(token),
      sealedToken,
      earlierTokenHash: input.token && isToken('lnp_', input.token) ? hashToken(input.token) : null,
      passId: pass?.id ?? null,
      ...toHost(caller),
      at,
      now: at,
      contactQuota: settings.quotas.contacts,
    })
    .catch((error: unknown): never => {
      // The room's row is locked, so only the user can be missing.
      throw isForeignKeyViolation(error) ? unauthorized() : error;
    });
  const [row] = rows;
  if (!row) throw notFound('Room');
  if (row.refusal === 'locked') throw roomLocked();
  if (row.refusal === 'members_only') throw membersOnly();
  if (row.refusal === 'full' && row.max_participants !== null) throw roomFull(row.max_participants);
  if (row.id === null || row.status === null) return null;
  const status = toParticipantStatus(row.status);
  const participant = {
    id: row.id,
    room_name: row.room_name,
    name: person.name,
    user_id: caller?.userId ?? null,
    status,
    end_reason: null,
    is_host: row.is_host ? 1 : 0,
    is_member: row.is_member ? 1 : 0,
    room_locked: row.is_locked ? 1 : 0,
    may_record: toFlagOrNull(pass?.mayRecord ?? null),
    external_id: pass?.externalId ?? null,
    metadata: pass?.metadata ?? null,
    waiting_room_message: status === 'waiting' ? row.waiting_room_message : null,
    joined_at: status === 'joined' ? toUnixSeconds(at) : null,
    created_at: toUnixSeconds(at),
    reference: createReference(sealer, row.workspace_id, row.id),
    token,
  };
  const visitor = toVisitor(sealer, {
    id: row.id,
    workspaceId: row.workspace_id,
    roomId: row.room_id,
    roomName: row.room_name,
    name: person.name,
    status,
    isHost: row.is_host,
    isMember: row.is_member,
  });
  return { participant, media: await toMedia(services, { sql, now: at }, visitor, row) };
}

/** A user always gets the email address of their account, so that they cannot pose as another contact. */
function toPerson(caller: Caller | null, { name: sentName, email }: JoinInput) {
  const name = sentName || caller?.name;
  if (!name) throw badField('name', 'name is required');
  return { name, email: caller?.email ?? email ?? null };
}

/** Joins as a participant who is still present. */
async function rejoin(
  services: Needs,
  { sql, transact }: Place,
  caller: Caller | null,
  { roomName }: JoinInput,
  room: RoomToJoin,
  present: Present,
): Promise<JoinAnswer | null> {
  const { clock, sealer, settings } = services;
  // Neither call changes who is in the room, so both can be repeated if a later step fails.
  const touched = await runRepeatable(() => touchPresent(sql, clock.now(), room, present));
  if (touched === null) return null;
  const token = await runRepeatable(() => toPresentToken(sql, sealer, room, present));
  if (token === null) return null;
  const { participant, waitingRoomMessage, media } = touched;
  const identifiers = { reference: createReference(sealer, room.workspaceId, participant.id), token };
  if (participant.status === 'joined' || !room.mayEnter)
    return {
      participant: { ...toOwnParticipant(participant, waitingRoomMessage), ...identifiers },
      media: await toMedia(services, { sql, now: clock.now() }, toVisitor(sealer, participant), media),
    };
  // The participant no longer has to wait, for example because they became a host meanwhile. This is rare, so it costs
  // little to lock the workspace, as is done when a participant is admitted.
  return transact(async (tx) => {
    const access = await lockRoomAccess(tx, (sql) => findRoomAccess(sql, caller, roomName));
    const isAdmitted = access.isMember || room.pass?.isAdmitted === true;
    const isHost = access.isHost || participant.isHost;
    const isExpected = (!access.hasWaitingRoom || isAdmitted) && !access.isLocked;
    if (!isHost && (!isExpected || participant.barredUntil !== null)) throw new ChangedError();
    const key = { workspaceId: room.workspaceId, roomId: room.roomId };
    const free = isHost ? null : await countFreePlaces(sqlIn(tx), key);
    // A host can still admit them once there is a place.
    if (free !== null && free < 1)
      return { participant: { ...toOwnParticipant(participant, waitingRoomMessage), ...identifiers }, media: null };
    const entered = await markJoined(sqlIn(tx), clock.now(), participant, settings.quotas);
    if (entered.status !== 'joined') throw new ChangedError();
    return {
      participant: { ...toOwnParticipant(entered, null), ...identifiers },
      media: await toMedia(services, { sql: sqlIn(tx), now: clock.now() }, toVisitor(sealer, entered), media),
    };
  }).catch((error: unknown) => {
    if (error instanceof ChangedError) return null;
    throw error;
  });
}
