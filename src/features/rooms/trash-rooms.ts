/** Takes rooms out of their table for the trash, and puts them back. */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockRoomRow } from '../../auth/room-lock.ts';
import { notFound } from '../../core/errors.ts';
import type { Tx } from '../../db/client.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, ints, json, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { cancelBookingOfRoom } from '../booking-mails/end-bookings.ts';
import { emitLeftForRoom } from '../participants/participant-lifecycle.ts';
import { insertRoomCreated } from './insert-room.ts';
import { withUniqueSession } from './room-settings.ts';

type RoomRecord = Readonly<Record<string, unknown>>;

/** A room to put back. `createdBy` is its host, unless the account was deleted. */
export type StoredRoom = { createdBy: number | null; record: RoomRecord };

const findRoom = statement('find-recordings-of-room', {
  params: { workspaceId: int, roomName: text, limit: int },
  returns: { id: int, recordingIds: ints },
  sql: `
    select id, array(
      select c.id from recordings c where c.workspace_id = $workspaceId and c.room_id = r.id order by c.id limit $limit
    ) as "recordingIds"
    from rooms r where workspace_id = $workspaceId and name = $roomName`,
});

// A display name that has the name of a guest is not stored: once the row is gone, nothing leads from the guest to it.
const readRecord = statement('read-record-of-room', {
  params: { workspaceId: int, roomId: int },
  returns: { roomName: text, name: text, createdBy: int, createdAt: time, recordings: int, record: json<RoomRecord>() },
  sql: `
    select r.name as "roomName", coalesce(d.name, r.name) as name, user_id as "createdBy", created_at as "createdAt",
      (select count(*)::int from recordings c
        where c.workspace_id = $workspaceId and c.room_id = $roomId) as recordings,
      to_jsonb(r) - '{workspace_id,user_id}'::text[] || jsonb_build_object('display_name', d.name) as record
    from rooms r cross join lateral (
      select case when not exists (
        select from bookings b
        where b.workspace_id = $workspaceId and b.room_id = r.id and strpos(r.display_name, b.name) > 0)
      then r.display_name end as name) d
    where r.workspace_id = $workspaceId and r.id = $roomId`,
});

const removeStatement = statement('remove-taken-room', {
  params: { workspaceId: int, roomId: int },
  sql: 'delete from rooms where workspace_id = $workspaceId and id = $roomId',
});

// A host who has left the workspace is replaced by the person who restores the room.
const putBackStatement = statement('put-back-room', {
  params: { workspaceId: int, room: json<RoomRecord>(), createdBy: nullable(int), userId: int, at: time },
  returns: { id: int, name: text },
  sql: `
    with host as (
      select u.id, u.name from users u where u.id = coalesce(
        (select user_id from members where workspace_id = $workspaceId and user_id = $createdBy), $userId)),
    room as (
      insert into rooms (workspace_id, id, name, user_id, display_name, scheduled_at, accent_color,
        waiting_room_enabled, waiting_room_message, session_id, created_at, last_used_at, locked_at, media, relay_only,
        chat_enabled, max_participants, members_only, recordings_visible_to, who_may_record)
      select $workspaceId, r.id, r.name, h.id, r.display_name, r.scheduled_at, r.accent_color,
        r.waiting_room_enabled, r.waiting_room_message, r.session_id, r.created_at, r.last_used_at, r.locked_at,
        r.media, r.relay_only, r.chat_enabled, r.max_participants, r.members_only, r.recordings_visible_to,
        r.who_may_record
      from host h cross join jsonb_populate_record(null::rooms, $room) r
      returning *),
    event as (${insertRoomCreated({ at: '$at', creatorName: '(select name from host)' })})
    select id, name from room`,
});

/**
 * Finds a room and up to `limit` of its recordings by the room's name. Returns null if the workspace has no such room.
 */
export async function findRecordingsOfRoom(
  sql: Sql,
  { workspaceId, roomName, limit }: { workspaceId: number; roomName: string; limit: number },
) {
  const [room] = await sql.run(findRoom, { workspaceId, roomName, limit });
  return room ?? null;
}

/**
 * Does what a deletion does before the row is deleted: emits `room.left` for each participant in the room, and cancels
 * an upcoming booking. Returns what the trash stores, which is no display name that has the name of a guest who booked
 * the room, and how many recordings the room has. Throws 404 "Room not
 * found". Call it with the workspace locked, and `removeTakenRoom` later in the same transaction.
 */
export async function takeRoom(services: Pick<Services, 'sealer' | 'clock'>, tx: Tx, actor: Actor, roomId: number) {
  const { workspaceId, userId } = actor;
  const sql = sqlIn(tx);
  const at = services.clock.now();
  // Waits for joins in progress to commit, and prevents new joins.
  await lockRoomRow(tx, workspaceId, roomId);
  const [room] = await sql.run(readRecord, { workspaceId, roomId });
  if (room === undefined) throw notFound('Room');
  const { roomName, recordings, record, ...entry } = room;
  const isCancelled = await cancelBookingOfRoom(services, sql, { workspaceId, roomId, userId, at });
  await emitLeftForRoom(sql, at, workspaceId, roomId);
  await recordAudit(tx, {
    workspaceId,
    at,
    actor: auditActorOf(actor),
    action: 'room.trashed',
    target: { kind: 'room', id: roomId, name: roomName },
    before: { recordings },
  });
  return {
    recordings,
    entry: {
      ...entry,
      // The restored room does not announce a meeting that does not take place.
      record: isCancelled ? { ...record, scheduled_at: null } : record,
      size: 0,
      fileKey: null,
      posterKey: null,
    },
  };
}

/** Deletes the row of a room whose entry was added to the trash. */
export async function removeTakenRoom(tx: Tx, workspaceId: number, roomId: number): Promise<void> {
  await sqlIn(tx).run(removeStatement, { workspaceId, roomId });
}

/**
 * Puts a room back and emits `room.created`. Throws 409 if another room of the workspace has its session ID meanwhile.
 * Call it with the workspace locked.
 */
export async function putBackRoom(tx: Tx, at: Date, actor: Actor, { createdBy, record }: StoredRoom): Promise<void> {
  const { workspaceId, userId } = actor;
  const params = { workspaceId, room: record, createdBy, userId, at };
  const { id, name } = onlyRow(await withUniqueSession(() => sqlIn(tx).run(putBackStatement, params)));
  await recordAudit(tx, {
    workspaceId,
    at,
    actor: auditActorOf(actor),
    action: 'room.restored',
    target: { kind: 'room', id, name },
  });
}
