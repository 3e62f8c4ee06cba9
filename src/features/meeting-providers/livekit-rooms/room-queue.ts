/** The queue of rooms about which LiveKit servers have to be told something. */
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { bool, int, nullable, statement, text, time } from '../../../db/statements.ts';
import { declareQueue, type Lease } from '../../../jobs/lease-queue.ts';
import type { Services } from '../../../services.ts';
import { MAX_TOKEN_MS } from '../../livekit/token.ts';

/** Longer than the calls about a room to a server that answers. If a process is killed, another takes over after it. */
export const ROOM_LEASE_MS = 30 * SECOND_MS;
/** Somebody who has left may still have a token: until it expires, the server is looked at again. */
const WATCH_MS = MAX_TOKEN_MS + MINUTE_MS;
const WATCH_EVERY_MS = 10 * SECOND_MS;
/** A server that fails is asked again after as long as it has failed, within these limits. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [SECOND_MS, MINUTE_MS];
const GIVE_UP_MS = DAY_MS;
/** After this time, nobody is there any more who had a token of a server that was removed from the settings. */
const GIVE_UP_UNKNOWN_MS = MAX_TOKEN_MS;

const key = {
  workspaceId: { column: 'workspace_id', type: int },
  roomId: { column: 'room_id', type: int },
  isOwn: { column: 'is_own', type: bool },
  origin: { column: 'origin', type: text },
};
const columns = {
  roomName: { column: 'room_name', type: text },
  tokenUntil: { column: 'token_until', type: time },
  watchedUntil: { column: 'watched_until', type: nullable(time) },
  isClosing: { column: 'is_closing', type: bool },
  mutingUntil: { column: 'muting_until', type: nullable(time) },
  mutedBy: { column: 'muted_by', type: nullable(int) },
  failingSince: { column: 'failing_since', type: nullable(time) },
};

/** One workspace whose server hangs does not keep the others waiting. */
export const livekitRooms = declareQueue({
  name: 'livekit-room',
  table: 'livekit_rooms',
  key,
  columns,
  fairBy: 'workspace_id',
});

export type RoomLease = Lease<typeof key, typeof columns>;

const keyParams = { workspaceId: int, roomId: int, isOwn: bool, origin: text, attempt: int };
/** The row, if this process still has the lease. */
const isLeased = `workspace_id = $workspaceId and room_id = $roomId and is_own = $isOwn and origin = $origin
      and attempts = $attempt and leased_until is not null`;

const finishStatement = statement('finish-livekit-room', {
  params: { ...keyParams, watchedUntil: time, nextAttemptAt: time },
  sql: `
    update livekit_rooms set watched_until = $watchedUntil, is_closing = false, muting_until = null, muted_by = null,
      failing_since = null, leased_until = null, next_attempt_at = $nextAttemptAt
    where ${isLeased}`,
});

const retryStatement = statement('retry-livekit-room', {
  params: { ...keyParams, failingSince: time, nextAttemptAt: time },
  sql: `
    update livekit_rooms set failing_since = $failingSince, leased_until = null, next_attempt_at = $nextAttemptAt
    where ${isLeased}`,
});

const removeStatement = statement('remove-livekit-room', {
  params: { ...keyParams, tokenUntil: time },
  sql: `delete from livekit_rooms where ${isLeased} and token_until <= $tokenUntil`,
});

type Needs = Pick<Services, 'db' | 'clock'>;

/** When nobody can be connected any more unless they are now: LiveKit renews the tokens of those who are connected. */
function endOfTokens({ tokenUntil }: RoomLease): number {
  return tokenUntil.getTime() + MAX_TOKEN_MS;
}

/** Whether the server has to be called now. Nothing has to be said about a room in which nobody has left. */
export function isDue(now: Date, lease: RoomLease): boolean {
  const { watchedUntil, isClosing, mutingUntil } = lease;
  const isWatched = watchedUntil === null || now < watchedUntil;
  return isWatched || isClosing || mutingUntil !== null || now.getTime() >= endOfTokens(lease);
}

/** Looks at the room again once no token works any more. */
export function postponeRoom({ db }: Needs, lease: RoomLease): Promise<void> {
  return livekitRooms.release(db.sql, lease, new Date(endOfTokens(lease)));
}

/**
 * Ends what the server was told. The room is looked at again while somebody may have a token, and less often while
 * somebody is connected. Otherwise it is forgotten.
 */
export async function finishRoom({ db, clock }: Needs, lease: RoomLease, isEmpty: boolean): Promise<void> {
  const now = clock.now().getTime();
  const watchedUntil = lease.watchedUntil?.getTime() ?? now + WATCH_MS;
  if (now >= watchedUntil && now >= endOfTokens(lease) && isEmpty) return dropRoom({ db }, lease);
  const idleUntil = Math.max(endOfTokens(lease), now + MAX_TOKEN_MS);
  const next = now < watchedUntil ? now + WATCH_EVERY_MS : idleUntil;
  await db.sql.run(finishStatement, {
    ...toKey(lease),
    watchedUntil: new Date(watchedUntil),
    nextAttemptAt: new Date(next),
  });
}

/** Forgets the room, unless there is a new token for it. */
async function dropRoom({ db }: Pick<Needs, 'db'>, lease: RoomLease): Promise<void> {
  await db.sql.run(removeStatement, { ...toKey(lease), tokenUntil: lease.tokenUntil });
}

/** Tries again later. Returns false if the room is given up: after a day, or soon if no server is known. */
export async function retryRoom({ db, clock }: Needs, lease: RoomLease, isKnown: boolean): Promise<boolean> {
  const now = clock.now().getTime();
  const failingSince = lease.failingSince?.getTime() ?? now;
  if (now >= failingSince + (isKnown ? GIVE_UP_MS : GIVE_UP_UNKNOWN_MS)) {
    await dropRoom({ db }, lease);
    return false;
  }
  const pause = Math.min(Math.max(now - failingSince, MIN_PAUSE_MS), MAX_PAUSE_MS);
  await db.sql.run(retryStatement, {
    ...toKey(lease),
    failingSince: new Date(failingSince),
    nextAttemptAt: new Date(now + pause),
  });
  return true;
}

function toKey({ workspaceId, roomId, isOwn, origin, attempt }: RoomLease) {
  return { workspaceId, roomId, isOwn, origin, attempt };
}
