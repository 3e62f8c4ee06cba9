/** Marks recordings as failed if their files do not arrive. */

import { HOUR_MS } from '../../core/time.ts';
import { inBatches } from '../../db/in-batches.ts';
import { int, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/** Rows per statement, few enough that concurrent updates of these rows wait only briefly. */
const BATCH_SIZE = 500;

const NEVER_STOPPED = 'The recording was never stopped';
const NO_FILE = 'The file was never uploaded';

/** Skips locked rows: another transaction is updating them, so they are not stale. */
const failBatch = statement('fail-stale-recordings', {
  params: { now: time, before: time },
  returns: { id: int },
  sql: `
    update recordings r set status = 'failed', updated_at = $now,
      failure_reason = case when r.ended_at is null then '${NEVER_STOPPED}' else '${NO_FILE}' end
    from (
      select c.workspace_id, c.id from recordings c
      where c.status = 'started' and c.updated_at < $before and not exists (
        select from uploads u
        where u.workspace_id = c.workspace_id and u.recording_id = c.id and u.result is null and u.defers_length
          and u.received > 0)
        and not exists (
          select from livekit_egresses e where e.workspace_id = c.workspace_id and e.recording_id = c.id)
      order by c.updated_at limit ${BATCH_SIZE} for update skip locked) stale
    where r.workspace_id = stale.workspace_id and r.id = stale.id
    returning r.id`,
});

/**
 * Marks as failed all recordings with the status `started` that have not been updated for `recordingTimeoutHours`. Does
 * not change those that have bytes of an upload, with which they are finished when their recorder falls silent; nor
 * those that the LiveKit server of the operator makes, which its worker ends; nor
 * recordings with the status `uploaded`, because their files exist, possibly only in the customer's own storage.
 * Returns the number of marked recordings. Concurrent calls are safe.
 */
export async function failStaleRecordings({
  db,
  clock,
  log,
  settings,
}: Pick<Services, 'db' | 'clock' | 'log' | 'settings'>): Promise<number> {
  const now = clock.now();
  const before = new Date(now.getTime() - settings.recordingTimeoutHours * HOUR_MS);
  const failed = await inBatches(BATCH_SIZE, async () => (await db.sql.run(failBatch, { now, before })).length);
  if (failed > 0) log.info({ failed }, 'Marked stale recordings as failed');
  return failed;
}
