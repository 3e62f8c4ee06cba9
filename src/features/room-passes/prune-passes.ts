import { DAY_MS } from '../../core/time.ts';
import { inBatches } from '../../db/in-batches.ts';
import { onlyRow } from '../../db/only-row.ts';
import { int, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

const BATCH_SIZE = 500;

/** A visit reads what its pass says about recording, so the pass stays as long as the longest visits. */
const KEPT_MS = 2 * DAY_MS;

const prune = statement('prune-room-passes', {
  params: { before: time, max: int },
  returns: { count: int },
  sql: `
    with old as (
      select workspace_id, id from room_passes where expires_at < $before order by expires_at limit $max
      for update skip locked),
    deleted as (
      delete from room_passes q using old o where q.workspace_id = o.workspace_id and q.id = o.id returning 1)
    select count(*)::int as count from deleted`,
});

/** Deletes passes that expired two days ago or earlier. */
export async function prunePasses({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_MS);
  await inBatches(BATCH_SIZE, async () => onlyRow(await db.sql.run(prune, { before, max: BATCH_SIZE })).count);
}
