/** Deleting what is older than its workspace's policy. */
import { DAY_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { emitAll } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObjects } from '../../storage/discarded-objects.ts';

/** Rows a transaction: short enough that uploads to the workspace hardly notice. */
const BATCH = 200;

type DueRow = { id: number; name: string; mime_type: string; size: bigint };

/**
 * Deletes every library item that is older than its workspace's policy, to the second, with its file, and emits
 * `library_item.deleted` for each. Two sweeps at once do no harm. A workspace that fails is passed over until the next
 * time; files that the store does not take away now go later. Returns how many items were deleted.
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
      for (let count = BATCH; count === BATCH; deleted += count) count = await deleteBatch(services, id);
    } catch (error) {
      services.log.error({ err: error, workspace: id }, 'The retention policy of a workspace could not be applied');
    }
  }
  if (deleted > 0) await removeDiscardedObjects(services);
  services.log.info({ deleted }, 'Applied the retention policies');
  return deleted;
}

/** Deletes one batch of due items with their events; the trigger discards their files. Returns how many they were. */
function deleteBatch({ db, clock }: Services, workspaceId: number): Promise<number> {
  return transact(db, async (tx) => {
    const now = clock.now();
    // Read again for each batch: who lifts the policy stops the sweep.
    const before = await dueBefore(tx, workspaceId, now);
    if (before === null) return 0;
    const rows = await tx.$queryRaw<DueRow[]>`
      delete from library_items where workspace_id = ${workspaceId} and id in (
        select id from library_items where workspace_id = ${workspaceId} and created_at < ${before}
        order by created_at, id limit ${BATCH})
      returning id, name, mime_type, size`;
    await emitAll(
      tx,
      now,
      rows.map(({ id, name, mime_type, size }) => ({
        type: 'library_item.deleted',
        workspaceId,
        data: {
          workspace_id: workspaceId,
          item_id: id,
          name,
          mime_type,
          size: Number(size),
          deleted_by: null,
          deleted_by_name: null,
        },
      })),
    );
    return rows.length;
  });
}

/** Takes the workspace's row, and says before when its items are due; null where there is no policy (any more). */
async function dueBefore(tx: Tx, workspaceId: number, now: Date): Promise<Date | null> {
  const [workspace] = await tx.$queryRaw<{ days: number | null }[]>`
    select media_retention_days as days from workspaces where id = ${workspaceId} for no key update`;
  return workspace?.days ? new Date(now.getTime() - workspace.days * DAY_MS) : null;
}
