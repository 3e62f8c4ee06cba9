/**
 * Limits how many recordings participants start, since anyone can become a participant of a room without a waiting
 * room.
 */
import { conflict, tooManyRequests } from '../../core/errors.ts';
import { HOUR_MS, SECOND_MS } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import type { RoomKey } from './recording-lifecycle.ts';
import { UNFINISHED_STATUSES_SQL } from './unfinished-statuses.ts';

/** Per room: recordings that participants started and that have no file yet. */
const MAX_UNFINISHED = 3;
/** Per room: recordings that participants started in the last hour. */
const MAX_PER_HOUR = 10;

type Counts = { unfinished: number; recent: number; firstAt: Date | null };

/**
 * Throws if a participant may not start another recording in the room now: 409 if too many have no file yet, 429 if too
 * many were started in the last hour. Recordings that the room owner or a provider started do not count. Call it with
 * the workspace locked.
 */
export async function requireWithinStartLimits(tx: Tx, at: Date, { workspaceId, roomId }: RoomKey): Promise<void> {
  const hourAgo = new Date(at.getTime() - HOUR_MS);
  const [counts] = await tx.$queryRaw<Counts[]>`
    select count(*)::int as recent, min(created_at) as "firstAt", (
      select count(*)::int from recordings where workspace_id = ${workspaceId} and room_id = ${roomId}
        and started_by is not null and status in (${UNFINISHED_STATUSES_SQL})) as unfinished
    from recordings where workspace_id = ${workspaceId} and room_id = ${roomId}
      and started_by is not null and created_at > ${hourAgo}`;
  const { unfinished = 0, recent = 0, firstAt = null } = counts ?? {};
  if (unfinished >= MAX_UNFINISHED)
    throw conflict('Too many recordings of this room have no file yet: upload or delete one first');
  if (recent < MAX_PER_HOUR || firstAt === null) return;
  const waitSeconds = Math.ceil((firstAt.getTime() - hourAgo.getTime()) / SECOND_MS);
  throw tooManyRequests('Too many recordings in this room: try again later', Math.max(1, waitSeconds));
}
