/**
 * The connections of participants to a meeting, as meeting providers report them. A visit ends when its last connection
 * ends. Call these functions with the workspace locked.
 */
import { bool, int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { markJoined, markLeft } from './participant-lifecycle.ts';
import type { ParticipantKey, ParticipantRecord } from './participant-record.ts';
import { insertJoinedEvents, insertLeftEvents } from './visit-events.ts';

/** The limit per participant. The oldest connections that have ended are forgotten first. */
export const MAX_CONNECTIONS = 100;

/** A meeting, as a provider names it. */
export type MeetingKey = { workspaceId: number; connectionId: number; meeting: string };

/** `reference` is the provider's id of the connection, unique within the meeting. */
export type ConnectionKey = MeetingKey & { reference: string };

/** A visit whose row is locked. */
export type ConnectedVisit = ParticipantKey & Pick<ParticipantRecord, 'status' | 'leftAt'>;

const connectionParams = { workspaceId: int, connectionId: int, meeting: text, reference: text };
const isConnection = `c.workspace_id = $workspaceId and c.connection_id = $connectionId and c.meeting = $meeting
      and c.reference = $reference`;

const findOne = statement('find-participant-connection', {
  params: connectionParams,
  returns: { id: int },
  sql: `select c.id from participant_connections c where ${isConnection}`,
});

const addOne = statement('add-participant-connection', {
  params: { ...connectionParams, participantId: int, joinedAt: time, leftAt: nullable(time), max: int },
  sql: `
    with added as (
      insert into participant_connections
        (workspace_id, participant_id, connection_id, meeting, reference, joined_at, left_at)
      values ($workspaceId, $participantId, $connectionId, $meeting, $reference, $joinedAt, $leftAt)),
    forgotten as (
      delete from participant_connections where workspace_id = $workspaceId and id in (
        select c.id from participant_connections c
        where c.workspace_id = $workspaceId and c.participant_id = $participantId
        order by c.left_at is null desc, c.id desc offset $max - 1))
    update participants set last_seen_at = greatest(last_seen_at, $joinedAt),
      connection_id = coalesce(connection_id, $connectionId), meeting = coalesce(meeting, $meeting),
      participant_reference = coalesce(participant_reference, $reference)
    where workspace_id = $workspaceId and id = $participantId`,
});

const closeOne = statement('close-participant-connection', {
  params: { ...connectionParams, at: time },
  returns: { workspaceId: int, roomId: int, id: int },
  sql: `
    with closed as (
      update participant_connections c set left_at = greatest($at, c.joined_at)
      where ${isConnection} and c.left_at is null)
    select p.workspace_id as "workspaceId", p.room_id as "roomId", p.id
    from participant_connections c join participants p on p.workspace_id = c.workspace_id and p.id = c.participant_id
    where ${isConnection}`,
});

const readLast = statement('read-last-connection', {
  params: { workspaceId: int, id: int },
  returns: { isOpen: nullable(bool), leftAt: nullable(time) },
  sql: `
    select bool_or(left_at is null) as "isOpen", max(left_at) as "leftAt" from participant_connections
    where workspace_id = $workspaceId and participant_id = $id`,
});

const extend = statement('extend-visit', {
  params: { workspaceId: int, id: int, at: time },
  sql: `
    update participants set left_at = greatest(left_at, $at)
    where workspace_id = $workspaceId and id = $id and status = 'left'`,
});

const continueOne = statement('continue-visit', {
  params: { workspaceId: int, id: int, at: time },
  sql: `
    with back as (
      update participants p set status = 'joined', left_at = null from rooms r
      where p.workspace_id = $workspaceId and p.id = $id and p.status = 'left'
        and r.workspace_id = p.workspace_id and r.id = p.room_id
      returning p.*, r.name as room_name)
    ${insertJoinedEvents('back', '$at')}`,
});

const closeMeeting = statement('close-connections-of-meeting', {
  params: { workspaceId: int, connectionId: int, meeting: text, at: time },
  returns: { count: int },
  sql: `
    with closed as (
      update participant_connections set left_at = $at
      where workspace_id = $workspaceId and connection_id = $connectionId and meeting = $meeting
        and left_at is null and joined_at <= $at
      returning workspace_id, participant_id, id),
    gone as (
      update participants p set status = 'left', left_at = greatest($at, p.joined_at) from rooms r
      where p.workspace_id = $workspaceId and p.id in (select participant_id from closed) and p.status = 'joined'
        and r.workspace_id = p.workspace_id and r.id = p.room_id
        and not exists (
          select from participant_connections c where c.workspace_id = p.workspace_id and c.participant_id = p.id
            and c.left_at is null and c.id not in (select id from closed))
      returning p.*, r.name as room_name),
    left_events as (${insertLeftEvents('$at')})
    select count(*)::int as count from closed`,
});

/** Whether the connection is known, whether or not it has ended. */
export async function hasConnection(sql: Sql, key: ConnectionKey): Promise<boolean> {
  return (await sql.run(findOne, key)).length > 0;
}

/**
 * Adds a connection to a visit. `leftAt` is null if its end is not known yet. A waiting participant joins, which emits
 * `room.joined`. If all connections of the visit have now ended, the visit ends, which emits `room.left`. If
 * `isContinued` is true, a visit that has ended continues: an open connection makes the participant `joined` again,
 * which emits `room.joined` again; one that has ended can only move `left_at`.
 */
export async function addConnection(
  sql: Sql,
  { status, leftAt: wasLeftAt, ...visit }: ConnectedVisit,
  { leftAt, joinedAt, ...key }: ConnectionKey & { joinedAt: Date; leftAt: Date | null },
  { isContinued, quotas }: { isContinued: boolean; quotas: Quotas },
): Promise<void> {
  const { workspaceId, id } = visit;
  if (status === 'waiting') await markJoined(sql, joinedAt, visit, quotas);
  await sql.run(addOne, { ...key, participantId: id, joinedAt, leftAt, max: MAX_CONNECTIONS });
  if (status !== 'left' && leftAt !== null) await leaveIfDisconnected(sql, visit);
  if (status !== 'left' || !isContinued) return;
  if (leftAt !== null) await sql.run(extend, { workspaceId, id, at: leftAt });
  else await sql.run(continueOne, { workspaceId, id, at: later(joinedAt, wasLeftAt) });
}

/** Ends the visit if none of its connections is open. */
async function leaveIfDisconnected(sql: Sql, visit: ParticipantKey): Promise<void> {
  const { workspaceId, id } = visit;
  const [last] = await sql.run(readLast, { workspaceId, id });
  if (last?.isOpen === false && last.leftAt !== null) await markLeft(sql, last.leftAt, visit);
}

function later(one: Date, other: Date | null): Date {
  return other === null || one > other ? one : other;
}

/**
 * Ends a connection at the time `at`, unless it has ended already, and with its last connection the visit, which emits
 * `room.left`. Returns false if the connection is not known.
 */
export async function endConnection(sql: Sql, at: Date, key: ConnectionKey): Promise<boolean> {
  const [visit] = await sql.run(closeOne, { ...key, at });
  if (visit) await leaveIfDisconnected(sql, visit);
  return visit !== undefined;
}

/**
 * Ends, at the time `at`, the connections that the provider reported in the meeting and that had begun by then, and the
 * visits that have no other connection. Emits `room.left` once for each of these visits. Returns how many connections
 * it ended.
 */
export async function endConnectionsOfMeeting(sql: Sql, at: Date, meeting: MeetingKey): Promise<number> {
  const [row] = await sql.run(closeMeeting, { ...meeting, at });
  return row?.count ?? 0;
}
