/** Finishes recordings whose recorder has fallen silent without saying that it has sent all. */
import { HOUR_MS, SECOND_MS } from '../../core/time.ts';
import { int, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { finishSoFar } from './finish-so-far.ts';
import { withLease } from './upload-lease.ts';

/** How long an expired upload is kept if its recording does not have all of its bytes yet. */
export const FINISHING_MS = HOUR_MS;

/** Uploads per run, which follows a minute later. */
const BATCH_SIZE = 100;
/** How long the presence of the starter says that there is something to come, after the last request of the upload. */
const PRESENCE_MS = HOUR_MS;

/**
 * The condition that the upload `u` has bytes that are not in the file of its recording, and that it has expired or
 * nobody seems to send more. While the recording is running, the presence of the participant who started it counts as a
 * sign of life too. Processes of an earlier version do not set `active_at`, but move `expires_at` to a day after the
 * last bytes.
 */
const isIdle = `u.result is null and u.defers_length and u.recording_id is not null
      and u.received > u.finished_bytes and u.received is distinct from u.length
      and (u.is_finishing or u.expires_at <= $now or (
        greatest(u.created_at, u.active_at,
          case when u.finished_at is null then u.expires_at - interval '1 day' end) <= $idleSince
        and (u.active_at <= $silentSince or not exists (
          select from recordings c
          join participants p on p.workspace_id = c.workspace_id and p.id = c.started_by
          where c.workspace_id = u.workspace_id and c.id = u.recording_id and c.ended_at is null
            and p.status = 'joined' and p.last_seen_at > $idleSince))))`;

const times = { now: time, idleSince: time, silentSince: time };

/** In a random order, so that uploads that cannot be finished for now do not keep back the others. */
const findIdle = statement('find-idle-uploads', {
  params: { ...times, expiresAfter: time, limit: int },
  returns: { id: text },
  sql: `
    select u.id from uploads u
    where ${isIdle} and (u.lease is null or u.leased_until <= $now) and u.expires_at > $expiresAfter
    order by random() limit $limit`,
});

const checkIdle = statement('check-idle-upload', {
  params: { ...times, id: text },
  returns: { id: text },
  sql: `select u.id from uploads u where u.id = $id and ${isIdle}`,
});

/**
 * Finishes the recordings whose upload has had neither bytes nor another sign of life for `recordingIdleSeconds`, with
 * the bytes that it has. The upload can still be continued. A later run tries those again that fail. Concurrent calls
 * are safe.
 */
export async function finishIdleUploads(services: Services): Promise<void> {
  const { db, clock, log, settings } = services;
  const now = clock.now();
  const before = (ms: number): Date => new Date(now.getTime() - ms);
  const idleMs = settings.recordingIdleSeconds * SECOND_MS;
  const since = { now, idleSince: before(idleMs), silentSince: before(Math.max(idleMs, PRESENCE_MS)) };
  const found = await db.sql.run(findIdle, { ...since, expiresAfter: before(FINISHING_MS), limit: BATCH_SIZE });
  for (const { id } of found) {
    const finish = withLease(
      services,
      id,
      () => undefined,
      async (leased) => {
        // More may have arrived before the lease was taken.
        const [idle] = await db.sql.run(checkIdle, { ...since, id });
        if (idle) await finishSoFar(services, leased);
      },
      { graceMs: FINISHING_MS },
    );
    await finish.catch((error: unknown) => log.warn({ err: error, upload: id }, 'Failed to finish an idle recording'));
  }
}
