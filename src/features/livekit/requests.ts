/**
 * What the LiveKit server that carries a meeting has to be told. A request is a row, written with what a host does, and
 * carried out by a worker (`features/meeting-providers/livekit-requests`).
 */
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import { notify } from '../../db/notify.ts';
import { bool, int, nullable, oneOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { MAX_TOKEN_MS } from './token.ts';

/** The NOTIFY channel that wakes the workers. */
export const LIVEKIT_CHANNEL = 'lynxroom_livekit';

/**
 * `reconcile`: participants who are not in the room here are removed from the server; `close`: the room ends there;
 * `mute`: all microphones but those of the host who asks are muted.
 */
export type LivekitRequestKind = 'reconcile' | 'close' | 'mute';

/** Somebody who is told to mute a quarter of an hour later would not know why. */
const MUTE_MS = MINUTE_MS;
/** Somebody who was removed may still have a token: until it expires, the server is looked at again. */
const RECONCILE_MS = MAX_TOKEN_MS + MINUTE_MS;

const addRequest = statement('add-livekit-request', {
  params: {
    workspaceId: int,
    roomId: int,
    kind: oneOf<LivekitRequestKind>(),
    isCarried: bool,
    userId: nullable(int),
    participantId: nullable(int),
    now: time,
    until: time,
  },
  returns: { room_name: text },
  sql: `
    insert into livekit_requests as q (workspace_id, room_name, room_id, kind, muted_by, created_at, until,
      next_attempt_at)
    select r.workspace_id, r.name, r.id, $kind, coalesce($participantId, (
        select p.id from participants p
        where p.workspace_id = r.workspace_id and p.room_id = r.id and p.status = 'joined' and p.user_id = $userId
        limit 1)), $now, $until, $now from rooms r
    where r.workspace_id = $workspaceId and r.id = $roomId and coalesce((
      select bool_or(k.media_origin is not null) from meeting_connections k where k.workspace_id = r.workspace_id
    ), $isCarried)
    on conflict (workspace_id, room_name, kind) do update set
      room_id = excluded.room_id, muted_by = excluded.muted_by, created_at = excluded.created_at,
      until = excluded.until,
      next_attempt_at = excluded.next_attempt_at,
      -- A worker with the earlier request may have looked at the server already: it loses its lease.
      leased_until = null, attempts = q.attempts + 1
    returning room_name`,
});

/**
 * Adds a request about a room, unless its workspace has no LiveKit server. A request of the same kind that waits is
 * replaced. Wakes a worker when the transaction commits.
 */
export async function addLivekitRequest(
  { settings }: Pick<Services, 'settings'>,
  sql: Sql,
  now: Date,
  { workspaceId, roomId }: { workspaceId: number; roomId: number },
  { kind, mutedBy }: { kind: LivekitRequestKind; mutedBy?: { userId: number | null; participantId: number | null } },
): Promise<void> {
  const lifetimes = { reconcile: RECONCILE_MS, close: DAY_MS, mute: MUTE_MS };
  const until = new Date(now.getTime() + lifetimes[kind]);
  const added = await sql.run(addRequest, {
    workspaceId,
    roomId,
    kind,
    isCarried: settings.meetings.livekit !== null,
    userId: mutedBy?.userId ?? null,
    participantId: mutedBy?.participantId ?? null,
    now,
    until,
  });
  if (added.length > 0) await notify(sql, LIVEKIT_CHANNEL);
}
