/** Expires participants who disappeared without leaving. */

import { HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { inBatches } from '../../db/in-batches.ts';
import { int, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { insertLeftEvents } from './visit-events.ts';

type Needs = Pick<Services, 'db' | 'clock' | 'log' | 'settings'>;

/** Rows per statement, few enough that heartbeats of these participants wait only briefly. */
const BATCH_SIZE = 200;

/**
 * Providers report joins and leaves, but nothing in between. After this time, the service assumes that the leave was
 * lost.
 */
const PROVIDER_TIMEOUT_MS = 24 * HOUR_MS;

const limits = { heartbeatLimit: time, providerLimit: time };

/** The condition that the participant `p` has expired. The index supports only the first two conditions. */
const isExpired = `p.status in ('waiting', 'joined') and p.last_seen_at < greatest($heartbeatLimit, $providerLimit)
  and p.last_seen_at < case when p.token_hash is not null and not exists (
      select from participant_connections c where c.workspace_id = p.workspace_id and c.participant_id = p.id)
    then $heartbeatLimit else $providerLimit end`;

const findExpired = statement('find-expired-workspaces', {
  params: limits,
  returns: { id: int },
  sql: `select distinct p.workspace_id as id from participants p where ${isExpired} order by 1`,
});

// Skips locked rows: a heartbeat is updating them, or the participant is leaving.
const expireSome = statement('expire-participants', {
  params: { workspaceId: int, max: int, now: time, ...limits },
  returns: { count: int },
  sql: `
    with workspace as (select id from workspaces where id = $workspaceId for key share),
    expired as (
      select p.workspace_id, p.id from workspace w join participants p on p.workspace_id = w.id and ${isExpired}
      order by p.last_seen_at, p.id limit $max for no key update of p skip locked),
    gone as (
      update participants p set status = 'left', left_at = p.last_seen_at
      from expired e join rooms r on r.workspace_id = e.workspace_id
      where p.workspace_id = e.workspace_id and p.id = e.id and r.id = p.room_id
      returning p.*, r.name as room_name),
    left_events as (${insertLeftEvents('$now')})
    select count(*)::int as count from gone`,
});

/**
 * Moves waiting and joined participants to `left` if the timeout has passed since they were last seen. The timeout is
 * `participantTimeoutSeconds` for participants who send heartbeats, and a day for participants whom a provider
 * reported. Sets `left_at` to when they were last seen. Emits `room.left` once for each who had joined, even if several
 * servers do this at the same time. If the statement for a workspace fails, logs the error and continues with the next
 * workspace. Returns how many participants expired.
 */
export async function expireParticipants(services: Needs): Promise<number> {
  const { db, clock, log } = services;
  const workspaces = await db.sql.run(findExpired, toLimits(services, clock.now()));
  let expired = 0;
  for (const { id } of workspaces) {
    try {
      expired += await inBatches(BATCH_SIZE, () => expireBatch(services, id));
    } catch (error) {
      log.error({ err: error, workspaceId: id }, 'Failed to expire the participants of a workspace');
    }
  }
  if (expired > 0) log.info({ expired }, 'Expired participants');
  return expired;
}

/**
 * Participants who send heartbeats have expired if they were last seen before `heartbeatLimit`. For participants whom a
 * provider reported, the limit is `providerLimit`.
 */
function toLimits({ settings }: Needs, now: Date): { heartbeatLimit: Date; providerLimit: Date } {
  return {
    heartbeatLimit: new Date(now.getTime() - settings.participantTimeoutSeconds * SECOND_MS),
    providerLimit: new Date(now.getTime() - PROVIDER_TIMEOUT_MS),
  };
}

/** Expires one batch and returns its size. */
async function expireBatch(services: Needs, workspaceId: number): Promise<number> {
  const now = services.clock.now();
  const values = { workspaceId, max: BATCH_SIZE, now, ...toLimits(services, now) };
  const [row] = await services.db.sql.run(expireSome, values);
  return row?.count ?? 0;
}
