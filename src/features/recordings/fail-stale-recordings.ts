/** Recordings that nothing was heard of for too long. */
import { HOUR_MS } from '../../core/time.ts';
import type { Services } from '../../services.ts';
import { UNFINISHED_STATUSES_SQL } from './unfinished-statuses.ts';

/** So many rows a statement: short enough that whoever waits for one of them hardly notices. */
const BATCH = 500;

const NEVER_ENDED = 'It never ended';
const NO_FILE = 'Its file never came';

/**
 * Fails the recordings that have no file, of which nothing was heard for `recordingTimeoutHours`, and whose file is not
 * being copied. Returns how many. Safe to run twice at once.
 */
export async function failStaleRecordings({
  db,
  clock,
  log,
  settings,
}: Pick<Services, 'db' | 'clock' | 'log' | 'settings'>): Promise<number> {
  const now = clock.now();
  const before = new Date(now.getTime() - settings.recordingTimeoutHours * HOUR_MS);
  let failed = 0;
  for (let count = BATCH; count === BATCH; failed += count) {
    // It takes no other row than these, and waits for none: who holds one of them is just telling of it.
    count = await db.$executeRaw`
      update recordings r set status = 'failed', updated_at = ${now},
        failure_reason = case when r.status = 'started' and r.ended_at is null then ${NEVER_ENDED} else ${NO_FILE} end
      from (
        select c.workspace_id, c.id from recordings c
        where c.status in (${UNFINISHED_STATUSES_SQL}) and c.updated_at < ${before} and not exists (
          select from recording_copies o where o.workspace_id = c.workspace_id and o.recording_id = c.id)
        order by c.updated_at limit ${BATCH} for update skip locked) stuck
      where r.workspace_id = stuck.workspace_id and r.id = stuck.id`;
  }
  if (failed > 0) log.info({ failed }, 'Recordings failed that nothing was heard of');
  return failed;
}
