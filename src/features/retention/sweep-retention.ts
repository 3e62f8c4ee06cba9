import { recordAudit } from '../../audit/record-audit.ts';
import { DAY_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { inBatches } from '../../db/in-batches.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObjects } from '../../storage/discarded-objects.ts';
import { deleteExpiredItems } from '../library/delete-expired-items.ts';
import { deleteExpiredRecordings } from '../recordings/delete-expired-recordings.ts';
import { deleteExpiredFromTrash } from '../trash/delete-entries.ts';

/** Rows per transaction. A transaction blocks uploads to the workspace, so it has to be short. */
const BATCH_SIZE = 200;

/** Reads the policy of a workspace, and locks the workspace. */
const lockPolicy = statement('lock-media-retention', {
  params: { workspaceId: int },
  returns: { days: nullable(int) },
  sql: 'select media_retention_days as days from workspaces where id = $workspaceId for no key update',
});

/**
 * Deletes all library items, with their files, that are older than the policy of their workspace allows. Emits
 * `library_item.deleted` for each. Items in the trash expire by their own age too, but were reported as deleted before.
 * Returns the number of deleted items. Deletes old recordings too.
 *
 * Several sweeps may run concurrently. If sweeping a workspace fails, the error is logged, and the sweep continues with
 * the next workspace. If the store is unavailable, the files are deleted later.
 */
export async function sweepRetention(services: Services): Promise<number> {
  const workspaces = await services.db.workspace.findMany({
    where: { mediaRetentionDays: { not: null } },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  let deleted = 0;
  for (const { id } of workspaces) {
    try {
      deleted += await inBatches(BATCH_SIZE, () => deleteBatch(services, id));
    } catch (error) {
      services.log.error({ err: error, workspace: id }, 'Failed to apply the retention policy of a workspace');
    }
  }
  const recordings = await deleteExpiredRecordings(services, (sql, expired) =>
    deleteExpiredFromTrash(sql, { ...expired, kind: 'recording' }),
  );
  if (deleted + recordings > 0) await removeDiscardedObjects(services);
  services.log.info({ deleted, recordings }, 'Applied retention policies');
  return deleted;
}

/**
 * Deletes one batch of expired items, emits their events, and records the batch in the audit log. A trigger discards
 * the files. Returns the number of deleted items.
 */
function deleteBatch({ db, clock }: Services, workspaceId: number): Promise<number> {
  return transact(db, async (tx) => {
    const now = clock.now();
    // The policy is read for each batch, so disabling it stops the sweep.
    const expiry = await findExpiry(tx, workspaceId, now);
    if (expiry === null) return 0;
    const sql = sqlIn(tx);
    const deleted = await deleteExpiredItems(sql, now, { workspaceId, expiry, max: BATCH_SIZE });
    const max = BATCH_SIZE - deleted.length;
    const ids = [
      ...deleted,
      ...(await deleteExpiredFromTrash(sql, { workspaceId, kind: 'library_item', expiry, max })),
    ];
    if (ids.length > 0)
      await recordAudit(tx, {
        workspaceId,
        at: now,
        actor: { kind: 'system' },
        action: 'library_item.expired',
        target: { kind: 'library_item', id: null },
        before: { count: ids.length, ids },
      });
    return ids.length;
  });
}

/**
 * Locks the workspace. Returns the cutoff time: older items have expired. Returns null if the workspace has no policy.
 */
async function findExpiry(tx: Tx, workspaceId: number, now: Date): Promise<Date | null> {
  const [workspace] = await sqlIn(tx).run(lockPolicy, { workspaceId });
  return workspace?.days ? new Date(now.getTime() - workspace.days * DAY_MS) : null;
}
