import { recordAudit } from '../../audit/record-audit.ts';
import { DAY_MS } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import { inBatches } from '../../db/in-batches.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, type Sql, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/** Rows per transaction. A transaction blocks recordings in the workspace, so it has to be short. */
const BATCH_SIZE = 200;

/** Reads the policy of a workspace, and locks the workspace. */
const lockPolicy = statement('lock-recording-retention', {
  params: { workspaceId: int },
  returns: { days: nullable(int) },
  sql: 'select recording_retention_days as days from workspaces where id = $workspaceId for no key update',
});

const deleteExpired = statement('delete-expired-recordings', {
  params: { workspaceId: int, expiry: time },
  returns: { id: int },
  sql: `
    delete from recordings where workspace_id = $workspaceId and id in (
      select id from recordings where workspace_id = $workspaceId and created_at < $expiry
      order by created_at, id limit ${BATCH_SIZE})
    returning id`,
});

/** Deletes up to `max` recordings of that age that are in the trash, and returns their IDs. */
type DeleteFromTrash = (
  sql: Sql,
  expired: { workspaceId: number; expiry: Date; max: number },
) => Promise<readonly number[]>;

/**
 * Deletes all recordings, with their files and posters, that are older than the policy of their workspace allows.
 * Returns the number of deleted recordings. Like a deletion by a person, it emits no event, and the audit log records
 * it: with one entry for each batch. Callbacks of their providers do not recreate them.
 *
 * Several calls may run concurrently. If a workspace fails, the error is logged, and the next workspace follows.
 * `deleteFromTrash` deletes those in the trash. Triggers discard the files: call `removeDiscardedObjects` afterwards.
 */
export async function deleteExpiredRecordings(services: Services, deleteFromTrash: DeleteFromTrash): Promise<number> {
  const { db, log } = services;
  const workspaces = await db.workspace.findMany({
    where: { recordingRetentionDays: { not: null } },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  let deleted = 0;
  for (const { id } of workspaces) {
    try {
      deleted += await inBatches(BATCH_SIZE, () => deleteBatch(services, id, deleteFromTrash));
    } catch (error) {
      log.error({ err: error, workspace: id }, 'Failed to apply the retention of the recordings of a workspace');
    }
  }
  return deleted;
}

function deleteBatch({ db, clock }: Services, workspaceId: number, deleteFromTrash: DeleteFromTrash): Promise<number> {
  return transact(db, async (tx) => {
    const now = clock.now();
    // The policy is read for each batch, so disabling it stops the deletion.
    const [workspace] = await sqlIn(tx).run(lockPolicy, { workspaceId });
    if (!workspace?.days) return 0;
    const expiry = new Date(now.getTime() - workspace.days * DAY_MS);
    const sql = sqlIn(tx);
    const rows = await sql.run(deleteExpired, { workspaceId, expiry });
    const trashed = await deleteFromTrash(sql, { workspaceId, expiry, max: BATCH_SIZE - rows.length });
    const ids = [...rows.map(({ id }) => id), ...trashed];
    if (ids.length > 0)
      await recordAudit(tx, {
        workspaceId,
        at: now,
        actor: { kind: 'system' },
        action: 'recording.expired',
        target: { kind: 'recording', id: null },
        before: { count: ids.length, ids },
      });
    return ids.length;
  });
}
