/**
 * Limits the recordings that guests start, because anyone can join a room without a waiting room. Recordings that a
 * provider, a host or a member of the workspace started do not count, so that no guest keeps them from recording.
 */
import { type AppError, conflictForNow, tooManyRequests } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { float, int, nullable, type Sql, statement, time } from '../../db/statements.ts';
import { formatBytes } from '../../media/format-bytes.ts';
import type { RoomKey } from './recording-lifecycle.ts';
import { isStartedByGuest } from './recording-rights.ts';
import { UNFINISHED_STATUSES } from './unfinished-statuses.ts';

/** The limit per room for recordings that guests started who are still in the room, and that have no file yet. */
const MAX_UNFINISHED = 3;
/** The limit per room for recordings that guests started in the last hour. */
const MAX_PER_HOUR = 10;

const countStarted = statement('count-started-recordings', {
  params: { workspaceId: int, roomId: int, hourAgo: time },
  returns: { recent: int, firstAt: nullable(time), unfinished: int },
  sql: `
    select count(*)::int as recent, min(created_at) as "firstAt", (
      select count(*)::int from recordings c
      join participants p on p.workspace_id = c.workspace_id and p.id = c.started_by and p.status = 'joined'
      where c.workspace_id = $workspaceId and c.room_id = $roomId
        and c.status in (${UNFINISHED_STATUSES}) and ${isStartedByGuest}) as unfinished
    from recordings c where c.workspace_id = $workspaceId and c.room_id = $roomId
      and c.created_at > $hourAgo and ${isStartedByGuest}`,
});

/**
 * Throws 409 if too many recordings that guests started who are still in the room have no file yet, and 429 if guests
 * started too many in the last hour. Call it with the workspace locked.
 */
export async function requireWithinStartLimits(sql: Sql, at: Date, { workspaceId, roomId }: RoomKey): Promise<void> {
  const hourAgo = new Date(at.getTime() - HOUR_MS);
  const [counts] = await sql.run(countStarted, { workspaceId, roomId, hourAgo });
  const { unfinished = 0, recent = 0, firstAt = null } = counts ?? {};
  if (unfinished >= MAX_UNFINISHED)
    throw conflictForNow('Too many recordings of this room have no file yet: upload or delete one first');
  if (recent < MAX_PER_HOUR || firstAt === null) return;
  const waitSeconds = Math.ceil((firstAt.getTime() - hourAgo.getTime()) / SECOND_MS);
  throw tooManyRequests('Too many recordings in this room: try again later', Math.max(1, waitSeconds));
}

/** How many bytes guests may still store in a room, and the error for a larger file. */
export type ByteAllowance = { bytes: number; exceeded: AppError };

type Allowed = {
  /** The limit for 24 hours. */
  maxBytes: number;
  /** The recording that is to be stored, which does not count itself. */
  recordingId?: number;
};

/**
 * Returns how many bytes guests may still store in the room, where `maxBytes` is the limit for 24 hours. Returns
 * null if `maxBytes` is 0, which means no limit. Throws 429 with Retry-After if fewer than `needed` bytes are left. If
 * the workspace is locked, the result is valid until the commit, apart from what unfinished uploads append.
 */
export async function requireByteAllowance(
  sql: Sql,
  at: Date,
  room: RoomKey,
  { needed = 1, ...allowed }: Allowed & { needed?: number },
): Promise<ByteAllowance | null> {
  if (allowed.maxBytes === 0) return null;
  const allowance = await readByteAllowance(sql, at, room, allowed);
  if (needed > allowance.bytes) throw allowance.exceeded;
  return allowance;
}

const sumStored = statement('sum-stored-recordings', {
  params: { workspaceId: int, roomId: int, recordingId: int, at: time, dayAgo: time },
  returns: { bytes: float, firstAt: nullable(time) },
  sql: `
    select coalesce(sum(s.bytes), 0)::float8 as bytes, min(s.created_at) as "firstAt" from (
      select c.created_at, case when c.file_key is null then 0 else c.size end + coalesce((
        select sum(coalesce(u.length, u.received) - u.finished_bytes) from uploads u
        where u.workspace_id = c.workspace_id and u.recording_id = c.id and u.result is null and u.expires_at > $at
      ), 0) as bytes
      from recordings c
      where c.workspace_id = $workspaceId and c.room_id = $roomId and ${isStartedByGuest}
        and c.created_at > $dayAgo and c.id <> $recordingId) s
    where s.bytes > 0`,
});

/**
 * Returns how many bytes guests may still store in the room, which may be none. Unfinished uploads count like the files
 * of recordings: with the length that they have named, which is kept free for them, or with what has arrived.
 */
export async function readByteAllowance(
  sql: Sql,
  at: Date,
  { workspaceId, roomId }: RoomKey,
  { maxBytes, recordingId = 0 }: Allowed,
): Promise<ByteAllowance> {
  const dayAgo = new Date(at.getTime() - DAY_MS);
  const [stored] = await sql.run(sumStored, { workspaceId, roomId, recordingId, at, dayAgo });
  const { bytes = 0, firstAt = null } = stored ?? {};
  const waitSeconds = Math.ceil(((firstAt ?? at).getTime() - dayAgo.getTime()) / SECOND_MS);
  const exceeded = tooManyRequests(
    `The guests of a room may record at most ${formatBytes(maxBytes)} in 24 hours (PARTICIPANT_RECORDING_BYTES)`,
    Math.max(1, waitSeconds),
  );
  return { bytes: Math.max(0, maxBytes - bytes), exceeded };
}
