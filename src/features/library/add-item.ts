import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { storeAnswerOfCall } from '../../db/idempotency-keys.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, statement } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import { addMediaJob } from '../../media/add-media-job.ts';
import type { LibraryType } from '../../media/file-type.ts';
import type { StoredFile } from '../../media/receive-file.ts';
import { type Quotas, requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { itemUploaded } from './item-events.ts';
import { readItem } from './read-items.ts';
import type { LibraryItem, UploadFields } from './schemas.ts';

const usedByItems = statement('read-quotas-of-items', {
  params: { workspaceId: int },
  returns: { item_count: int, stored_bytes: float },
  sql: `
    select library_item_count + trashed_item_count as item_count, stored_bytes::float8 as stored_bytes
    from workspaces where id = $workspaceId`,
});

/** The lock on the label keeps it from being deleted before the commit. */
const labelNewItem = statement('label-new-item', {
  params: { workspaceId: int, itemId: int, labelId: int },
  returns: {},
  sql: `
    insert into item_labels (workspace_id, item_id, label_id)
    select workspace_id, $itemId, id from labels where workspace_id = $workspaceId and id = $labelId for key share`,
});

/**
 * Adds an item to the library after its file has been stored. Emits `library_item.uploaded`. Throws 403 if the actor is
 * no longer a member, 404 if the workspace was deleted, and 409 if a quota is reached. `atEnd` runs at the end of the
 * transaction. `poster` is a stored poster, and the origin of its URL. The item gets the label with `labelId`, if it
 * still exists.
 */
export function addItem(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  actor: Pick<Actor, 'userId' | 'name' | 'workspaceId'>,
  item: UploadFields & StoredFile<LibraryType> & { poster?: { key: string; origin: string }; labelId?: number | null },
  atEnd?: (tx: Tx, added: LibraryItem) => Promise<void>,
): Promise<LibraryItem> {
  return transact(db, async (tx) => {
    // Storing the file may have taken minutes, so the uploader may have left the workspace in the meantime.
    // What began with a session or key may end without it.
    const workspace = await lockWorkspaceAs(tx, { ...actor, credential: null }, 'member');
    requireQuotas(settings.quotas, workspace, item.size);
    const now = clock.now();
    const { name, description, size, duration } = item;
    const { id } = await tx.libraryItem.create({
      data: {
        workspaceId: actor.workspaceId,
        uploadedBy: actor.userId,
        name,
        description,
        fileKey: item.fileKey,
        mimeType: item.type,
        size,
        sha256: item.sha256,
        duration,
        posterKey: item.poster?.key ?? null,
        createdAt: now,
        updatedAt: now,
      },
      select: { id: true },
    });
    const created_at = toUnixSeconds(now);
    const common = { name, description, mime_type: item.type, size, duration, created_at };
    const uploader = { uploaded_by: actor.userId, uploaded_by_name: actor.name };
    const { workspaceId } = actor;
    await emit(sqlIn(tx), now, itemUploaded(workspaceId, { id, ...common, ...uploader }));
    const withoutPoster = {
      id,
      workspace_id: workspaceId,
      ...common,
      ...uploader,
      file_url: null,
      poster_url: null,
      labels: [],
      updated_at: created_at,
    };
    const { poster, labelId = null } = item;
    if (labelId !== null) await sqlIn(tx).run(labelNewItem, { workspaceId, itemId: id, labelId });
    const isAsMade = !poster && labelId === null;
    // Without a poster, the origin does not matter.
    const added = isAsMade
      ? withoutPoster
      : await readItem(sqlIn(tx), { workspaceId }, { itemId: id }, poster?.origin ?? '');
    // Every operation that adds an item returns this response.
    await storeAnswerOfCall(sqlIn(tx), async () => ({ item: added }));
    if (item.isPending) await addMediaJob(tx, now, { workspaceId, itemId: id });
    await atEnd?.(tx, added);
    return added;
  });
}

/**
 * Throws 409 if the quotas leave no room for an item of `size` bytes now, before its file is stored. `addItem` decides.
 */
export async function requireRoomForItem(
  { db, settings }: Pick<Services, 'db' | 'settings'>,
  workspaceId: number,
  size: number,
): Promise<void> {
  const [used] = await db.sql.run(usedByItems, { workspaceId });
  if (used) requireQuotas(settings.quotas, used, size);
}

function requireQuotas(quotas: Quotas, used: { item_count: number; stored_bytes: number }, size: number): void {
  requireWithinQuota(quotas, 'items', used.item_count + 1);
  requireWithinQuota(quotas, 'bytes', used.stored_bytes + size);
}
