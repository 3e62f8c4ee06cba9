/** Inserts rooms, for the API and for bookings. */
import type { Caller } from '../../auth/identify.ts';
import { secondsOf } from '../../db/columns.ts';
import { bool, float, int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import { insertEvent } from '../../events/insert-event.ts';
import { blankToNull } from './room-settings.ts';
import { DEFAULT_COLOR, type RoomSettings } from './schemas.ts';
import { isNotInTrash } from './suggest-room-name.ts';

/** The parameters of `roomParts`. `toRoomParams` returns all of them except `roomName`. */
export const roomParams = {
  roomName: text,
  userId: int,
  creatorName: text,
  displayName: nullable(text),
  scheduledAt: nullable(float),
  accentColor: text,
  waitingRoomEnabled: bool,
  waitingRoomMessage: nullable(text),
  sessionId: nullable(text),
  media: nullable(text),
  relayOnly: bool,
  chatEnabled: bool,
  maxParticipants: nullable(int),
  membersOnly: bool,
  recordingsVisibleTo: text,
  whoMayRecord: text,
  createdAt: time,
};

/** SQL that emits `room.created` for the new rows of the CTE `room`. `creatorName` is the name of the host. */
export function insertRoomCreated({ at, creatorName }: { at: string; creatorName: string }): string {
  return insertEvent(
    'room.created',
    {
      workspace_id: 'r.workspace_id',
      room_id: 'r.id',
      room_name: 'r.name',
      display_name: 'r.display_name',
      created_by: creatorName,
      created_by_id: 'r.user_id',
      scheduled_at: 'r.scheduled_at',
      created_at: secondsOf('r.created_at'),
    },
    { from: 'room r', at },
  );
}

/**
 * The CTEs of a statement that creates a room and emits its event. The statement must define `allowed (workspace_id)`,
 * the workspace of the room. `room` returns the new row, or no row if `allowed` has none or the name is taken.
 */
export const roomParts = `
    room as (
      insert into rooms (workspace_id, name, user_id, display_name, scheduled_at, accent_color, waiting_room_enabled,
        waiting_room_message, session_id, media, relay_only, chat_enabled, max_participants, members_only,
        recordings_visible_to, who_may_record, created_at, last_used_at)
      select workspace_id, $roomName, $userId, $displayName, $scheduledAt, $accentColor, $waitingRoomEnabled,
        $waitingRoomMessage, $sessionId, $media, $relayOnly, $chatEnabled, $maxParticipants, $membersOnly,
        $recordingsVisibleTo, $whoMayRecord, $createdAt, $createdAt
      from allowed where ${isNotInTrash}
      on conflict (name) do nothing returning *),
    event as (${insertRoomCreated({ at: '$createdAt', creatorName: '$creatorName' })})`;

const addRoomStatement = statement('add-room', {
  params: { workspaceId: int, ...roomParams },
  returns: { id: int },
  sql: `
    with allowed as (select $workspaceId as workspace_id),
    ${roomParts}
    select id from room`,
});

/** A room that the service creates for a user, who is its host. */
export type NewRoom = {
  workspaceId: number;
  name: string;
  host: Pick<Caller, 'userId' | 'name'>;
  settings: RoomSettings;
  at: Date;
};

/**
 * Creates a room and emits `room.created`, in the caller's transaction. Call it with the workspace locked, after
 * checking the quota of rooms. Returns the ID of the room, or null if the name is taken.
 */
export async function addRoom(sql: Sql, { workspaceId, name, host, settings, at }: NewRoom): Promise<number | null> {
  const [room] = await sql.run(addRoomStatement, { workspaceId, roomName: name, ...toRoomParams(host, settings, at) });
  return room?.id ?? null;
}

/** Returns the values of `roomParams`, except `roomName`. */
export function toRoomParams(
  { userId, name: creatorName }: Pick<Caller, 'userId' | 'name'>,
  {
    scheduled_at: scheduledAt = null,
    accent_color: accentColor = DEFAULT_COLOR,
    waiting_room_enabled = false,
    waiting_room_message: waitingRoomMessage = null,
    display_name,
    session_id,
    media = null,
    relay_only: relayOnly = false,
    chat_enabled: chatEnabled = true,
    max_participants: maxParticipants = null,
    members_only = false,
    recordings_visible_to: recordingsVisibleTo = 'members',
    who_may_record: whoMayRecord = 'everyone',
  }: RoomSettings,
  createdAt: Date,
) {
  return {
    userId,
    creatorName,
    displayName: blankToNull(display_name),
    scheduledAt,
    accentColor,
    waitingRoomEnabled: Boolean(waiting_room_enabled),
    waitingRoomMessage,
    sessionId: blankToNull(session_id),
    media,
    relayOnly: Boolean(relayOnly),
    chatEnabled: Boolean(chatEnabled),
    maxParticipants,
    membersOnly: Boolean(members_only),
    recordingsVisibleTo,
    whoMayRecord,
    createdAt,
  };
}
