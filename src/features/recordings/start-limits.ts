/** How many recordings the participants of a room may start: in a room without a waiting room, anyone is one. */
import { conflict, tooManyRequests } from '../../core/errors.ts';
import { HOUR_MS, SECOND_MS } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { UNFINISHED_STATUSES_SQL } from './unfinished-statuses.ts';

/** So many recordings of a room that participants started may wait for their files. */
const MAX_WAITING = 3;
/** So many recordings of a room may participants start in an hour. */
const MAX_AN_HOUR = 10;

type Counts = { waiting: number; recent: number; firstAt: Date | null };

/**
 * Lets a participant start one more recording of a room; call it behind the lock of the workspace's row. What the room's
 * user or a provider started does not count.
 *
 * Throws 409 while too many wait for their files, and 429 after too many in an hour.
 */
export async function requireWithinStartLimits(
  tx: Tx,
  at: Date,
  { workspaceId, roomId }: { workspaceId: number; roomId: number },
): Promise<void> {
  const hourAgo = new Date(at.getTime() - HOUR_MS);
  const [counts] = await tx.$queryRaw<Counts[]>`
    select count(*)::int as recent, min(created_at) as "firstAt", (
      select count(*)::int from recordings where workspace_id = ${workspaceId} and room_id = ${roomId}
        and started_by is not null and status in (${UNFINISHED_STATUSES_SQL})) as waiting
    from recordings where workspace_id = ${workspaceId} and room_id = ${roomId}
      and started_by is not null and created_at > ${hourAgo}`;
  const { waiting = 0, recent = 0, firstAt = null } = counts ?? {};
  if (waiting >= MAX_WAITING)
    throw conflict('Recordings of this room wait for their files: upload or delete them first');
  if (recent < MAX_AN_HOUR || firstAt === null) return;
  const waitSeconds = Math.ceil((firstAt.getTime() - hourAgo.getTime()) / SECOND_MS);
  throw tooManyRequests('Too many recordings in this room: try again later', Math.max(1, waitSeconds));
}
