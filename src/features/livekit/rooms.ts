/**
 * The rooms for which LiveKit servers accept tokens, and what each server has to be told about them. Both is in one row
 * for each room and server, from the first token on. A worker (`features/meeting-providers/livekit-rooms`) tells it.
 *
 * That somebody has left or that a room was deleted is written by triggers, so that no way to do it is forgotten.
 */
import { MINUTE_MS } from '../../core/time.ts';
import { notify } from '../../db/notify.ts';
import { bool, bytes, int, json, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import { isConnection, type Livekit } from './connection.ts';

/** The NOTIFY channel that wakes the workers. Triggers notify it too. */
export const LIVEKIT_CHANNEL = 'lynxroom_livekit';

/** A server that accepts tokens for a room, until the last one expires. */
export type RoomOnServer = { origin: string; isOwn: boolean; tokenUntil: string };

export const serversReturns = { servers: nullable(json<RoomOnServer[]>('json')) };

/** A column with the servers that accept tokens for the room `r`. */
export const serversOfRoom = `(
    select json_agg(json_build_object('origin', q.origin, 'isOwn', q.is_own, 'tokenUntil', q.token_until))
    from livekit_rooms q where q.workspace_id = r.workspace_id and q.room_id = r.id) as servers`;

// Whoever ends the visit concurrently waits for this lock, and then finds the row; or this statement waits, and then
// finds no visit.
const addStatement = statement('add-livekit-room', {
  params: {
    workspaceId: int,
    roomId: int,
    participantId: int,
    isOwn: bool,
    origin: text,
    roomName: text,
    sealed: nullable(bytes),
    now: time,
    tokenUntil: time,
    nextAttemptAt: time,
  },
  returns: { roomId: int },
  sql: `
    with visit as (
      select id from participants
      where workspace_id = $workspaceId and id = $participantId and status = 'joined' for share)
    insert into livekit_rooms as q (workspace_id, room_id, is_own, origin, room_name, sealed_credentials, created_at,
      token_until, watched_until, next_attempt_at)
    select $workspaceId, $roomId, $isOwn, $origin, $roomName, $sealed, $now, $tokenUntil, $now, $nextAttemptAt
    from visit
    on conflict (workspace_id, room_id, is_own, origin) do update set
      sealed_credentials = excluded.sealed_credentials, token_until = greatest(q.token_until, excluded.token_until)
    returning room_id as "roomId"`,
});

/**
 * Remembers that a participant gets a token for a room on a server, so that the server is told when they leave. Call it
 * before the token is given to anybody. `servers` is the column `serversOfRoom`: usually the room is known, and nothing
 * is written. Returns false if the visit has ended meanwhile: then nobody may get the token.
 */
export async function addRoomOnServer(
  sql: Sql,
  now: Date,
  livekit: Livekit,
  {
    servers,
    tokenUntil,
    ...room
  }: {
    workspaceId: number;
    roomId: number;
    participantId: number;
    roomName: string;
    servers: readonly RoomOnServer[] | null;
    tokenUntil: Date;
  },
): Promise<boolean> {
  const isOwn = isConnection(livekit);
  const { origin } = livekit;
  const known = servers?.find((server) => server.origin === origin && server.isOwn === isOwn);
  if (known !== undefined && Date.parse(known.tokenUntil) >= tokenUntil.getTime()) return true;
  const sealed = isOwn ? Buffer.from(livekit.sealed, 'base64') : null;
  // A room about which nothing has to be told is looked at once nobody can be connected any more.
  const server = { isOwn, origin, sealed, now, tokenUntil, nextAttemptAt: tokenUntil };
  return (await sql.run(addStatement, { ...room, ...server })).length > 0;
}

const watchStatement = statement('watch-livekit-room', {
  params: { workspaceId: int, roomId: int, isClosing: bool },
  returns: { watched: text },
  writes: true,
  sql: 'select watch_livekit_room($workspaceId, $roomId, $isClosing)::text as watched',
});

type RoomKey = { workspaceId: number; roomId: number };

/**
 * Removes those who are not in the room here from the servers that carry its meeting: at once, and again as long as
 * somebody may have a token. Wakes a worker when the transaction commits.
 */
export async function removeStrangers(sql: Sql, { workspaceId, roomId }: RoomKey): Promise<void> {
  await sql.run(watchStatement, { workspaceId, roomId, isClosing: false });
}

/** Ends the room on its servers, in the same way. If the next meeting has begun, those of the earlier one leave. */
export async function closeOnServers(sql: Sql, { workspaceId, roomId }: RoomKey): Promise<void> {
  await sql.run(watchStatement, { workspaceId, roomId, isClosing: true });
}

/** Somebody who is told to mute a quarter of an hour later would not know why. */
const MUTE_MS = MINUTE_MS;

const muteStatement = statement('mute-livekit-room', {
  params: { workspaceId: int, roomId: int, userId: nullable(int), participantId: nullable(int), until: time },
  returns: { roomId: int },
  sql: `
    update livekit_rooms q set muting_until = $until, next_attempt_at = q.created_at,
      -- A worker may have muted already, on an earlier request: it loses its lease.
      leased_until = null, attempts = q.attempts + 1,
      muted_by = coalesce($participantId, (
        select p.id from participants p
        where p.workspace_id = q.workspace_id and p.room_id = q.room_id and p.status = 'joined' and p.user_id = $userId
        limit 1))
    where q.workspace_id = $workspaceId and q.room_id = $roomId
    returning q.room_id as "roomId"`,
});

/** Mutes the microphones of everybody but the host who asks, on the servers that carry the meeting of a room. */
export async function muteOnServers(
  sql: Sql,
  now: Date,
  { workspaceId, roomId }: RoomKey,
  { userId, participantId }: { userId: number | null; participantId: number | null },
): Promise<void> {
  const until = new Date(now.getTime() + MUTE_MS);
  const muted = await sql.run(muteStatement, { workspaceId, roomId, userId, participantId, until });
  if (muted.length > 0) await notify(sql, LIVEKIT_CHANNEL);
}
