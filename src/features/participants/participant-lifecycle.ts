/**
 * The lifecycle of a participant. The participant, a host, a meeting provider or a scheduled job can cause a change.
 * `at` is when the change happened. These functions lock the rows of the participants.
 */
import { notFound, tooManyTries } from '../../core/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, int, json, nullable, type Sql, statement, time } from '../../db/statements.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { toContactAddress } from '../contacts/contact-address.ts';
import { afterJoin, beforeJoin, joinParams } from './joining.ts';
import {
  lockParticipant,
  type ParticipantKey,
  type ParticipantRecord,
  participantReturns,
  selectColumns,
  toParticipantRecord,
  withRooms,
} from './participant-record.ts';
import { countFreePlaces } from './room-limits.ts';
import { insertLeftEvents } from './visit-events.ts';

/** Rows per statement. */
const ADMITTED_AT_A_TIME = 500;

const MAX_TRIES = 10;

type RoomKey = Omit<ParticipantKey, 'id'>;

const lockWaiting = statement('lock-waiting-participants', {
  params: { workspaceId: int, roomId: int, max: int },
  returns: participantReturns,
  sql: `
    select ${selectColumns()} from ${withRooms}
    where p.workspace_id = $workspaceId and p.room_id = $roomId and p.status = 'waiting' and p.barred_until is null
    order by p.created_at, p.id limit $max for no key update of p`,
});

const joinWaiting = statement('join-waiting-participants', {
  plansAnew: true,
  params: { workspaceId: int, people: json<{ id: number; address: string | null }[]>(), ...joinParams },
  returns: { id: int, contact_id: nullable(int) },
  sql: `
    with joining as (
      select p.id, p.id as position, p.workspace_id, p.room_id, r.name as room_name, p.name, a.address
      from jsonb_to_recordset($people) as a (id int, address text)
      join participants p on p.workspace_id = $workspaceId and p.id = a.id and p.status = 'waiting'
      join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id),
    ${beforeJoin},
    changed as (
      update participants p
      set status = 'joined', joined_at = $at, contact_id = c.id, last_seen_at = greatest(p.last_seen_at, $at)
      from joining j left join contact c on c.address = j.address
      where p.workspace_id = j.workspace_id and p.id = j.id and (j.address is null or c.address is not null)
      returning p.*),
    ${afterJoin}
    select id, contact_id from changed`,
});

const leaveOne = statement('leave-room', {
  params: { workspaceId: int, roomId: int, id: int, at: time },
  returns: { exists: bool },
  sql: `
    with workspace as (select id from workspaces where id = $workspaceId for key share),
    gone as (
      update participants p set status = 'left', left_at = greatest($at, p.joined_at)
      from workspace w join rooms r on r.workspace_id = w.id and r.id = $roomId
      where p.workspace_id = w.id and p.room_id = r.id and p.id = $id and p.status in ('waiting', 'joined')
      returning p.*, r.name as room_name),
    left_events as (${insertLeftEvents('v.left_at')})
    select exists (select from workspace) and exists (
      select from participants where workspace_id = $workspaceId and room_id = $roomId and id = $id) as exists`,
});

const leaveDeletedRoom = statement('leave-deleted-room', {
  params: { workspaceId: int, roomId: int, at: time },
  sql: `
    with gone as (
      select p.workspace_id, p.id, p.room_id, r.name as room_name, p.name, p.user_id, p.contact_id, p.external_id,
        p.metadata, p.created_at, p.joined_at, greatest($at, p.joined_at) as left_at
      from ${withRooms}
      where p.workspace_id = $workspaceId and p.room_id = $roomId and p.status = 'joined' for no key update of p)
    ${insertLeftEvents('v.left_at')}`,
});

/**
 * Moves a waiting participant to `joined`: updates the room's `last_used_at`, finds or creates the contact with their
 * email address, and emits `room.joined`. Does nothing if the participant is not waiting. Returns the participant after
 * the change. Throws 404 "Participant not found".
 */
export async function markJoined(sql: Sql, at: Date, key: ParticipantKey, quotas: Quotas): Promise<ParticipantRecord> {
  const participant = await lockParticipant(sql, key);
  if (participant.status !== 'waiting') return participant;
  const contactIds = await joinAll(sql, at, key, [participant], quotas);
  return { ...participant, status: 'joined', contactId: contactIds.get(key.id) ?? null, joinedAt: at };
}

/**
 * Moves waiting participants of a room to `joined`. Their rows must be locked. Returns the contact of each participant.
 */
async function joinAll(
  sql: Sql,
  at: Date,
  { workspaceId }: RoomKey,
  waiting: readonly ParticipantRecord[],
  quotas: Quotas,
): Promise<Map<number, number | null>> {
  const contactIds = new Map<number, number | null>();
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const people = waiting
      .filter(({ id }) => !contactIds.has(id))
      .map(({ id, email }) => ({ id, address: toContactAddress(email) }));
    if (people.length === 0) return contactIds;
    const rows = await sql.run(joinWaiting, { workspaceId, people, at, contactQuota: quotas.contacts });
    // If a participant is missing, a concurrent transaction has just added their contact. The next statement sees it.
    for (const { id, contact_id } of rows) contactIds.set(id, contact_id);
  }
  throw tooManyTries();
}

/**
 * Like `markJoined`, moves participants to `joined`: everyone who is waiting in the room, in the order in which they
 * came and as long as the room has places, except people who are waiting because a host removed them earlier. Call it
 * after switching the waiting room off in the same transaction. Concurrent joins block until the commit, so nobody else
 * is waiting afterwards.
 */
export async function admitEveryone(sql: Sql, at: Date, room: RoomKey, quotas: Quotas): Promise<void> {
  for (let isDone = false; !isDone; ) {
    const free = (await countFreePlaces(sql, room)) ?? ADMITTED_AT_A_TIME;
    const max = Math.max(0, Math.min(free, ADMITTED_AT_A_TIME));
    const rows = await sql.run(lockWaiting, { ...room, max });
    await joinAll(sql, at, room, rows.map(toParticipantRecord), quotas);
    isDone = rows.length < ADMITTED_AT_A_TIME;
  }
}

/**
 * Moves a waiting or joined participant to `left`; `left_at` is never before `joined_at`. Emits `room.left` if they had
 * joined. Does nothing if the visit has already ended. Throws 404 "Participant not found".
 */
export async function markLeft(sql: Sql, at: Date, { workspaceId, roomId, id }: ParticipantKey): Promise<void> {
  const { exists } = onlyRow(await sql.run(leaveOne, { workspaceId, roomId, id, at }));
  if (!exists) throw notFound('Participant');
}

/**
 * Emits `room.left` for every joined participant of a room that is about to be deleted. Call it with the row of the
 * room locked `for update`, so that nobody joins concurrently.
 */
export async function emitLeftForRoom(sql: Sql, at: Date, workspaceId: number, roomId: number): Promise<void> {
  await sql.run(leaveDeletedRoom, { workspaceId, roomId, at });
}
