/** Deletes or labels several items in one call. */
import { recordAudits } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, ints, statement, text } from '../../db/statements.ts';
import { emitAll } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { removeFilesOfCall } from '../../storage/discarded-objects.ts';
import { itemDeleted } from './item-events.ts';
import type { BulkResult, DeleteItemsInput, LabelItemsInput } from './schemas.ts';

const removeItems = statement('delete-items', {
  params: { workspaceId: int, itemIds: ints },
  returns: { id: int, name: text, mime_type: text, size: float, file_key: text },
  sql: `
    delete from library_items where workspace_id = $workspaceId and id = any($itemIds)
    returning id, name, mime_type, size::float8 as size, file_key`,
});

const lockLabels = statement('lock-labels', {
  params: { workspaceId: int, labelIds: ints },
  returns: { id: int },
  sql: `
    select id from labels where workspace_id = $workspaceId and id = any($labelIds) order by id for key share`,
});

const lockItems = statement('lock-items', {
  params: { workspaceId: int, itemIds: ints },
  returns: { id: int },
  sql: `
    select id from library_items where workspace_id = $workspaceId and id = any($itemIds) order by id for key share`,
});

const changeLabels = statement('change-labels-of-items', {
  params: { workspaceId: int, itemIds: ints, addedIds: ints, removedIds: ints },
  sql: `
    with removed as (
      delete from item_labels
      where workspace_id = $workspaceId and item_id = any($itemIds) and label_id = any($removedIds))
    insert into item_labels (workspace_id, item_id, label_id)
    select $workspaceId, i.id, l.id from unnest($itemIds) i (id), unnest($addedIds) l (id) order by i.id, l.id
    on conflict do nothing`,
});

/**
 * Deletes the items that exist, in one transaction, and their files. Emits `library_item.deleted` for each item.
 * Deletes the files before it returns, or later if there are many or the store is unavailable.
 */
export async function deleteItems(
  services: Services,
  actor: Actor,
  { item_ids }: DeleteItemsInput,
): Promise<BulkResult> {
  const { workspaceId } = actor;
  const rows = await transact(services.db, async (tx) => {
    // The trigger that counts items locks the workspace after the items. Locking the workspace first avoids deadlocks.
    await lockWorkspace(tx, workspaceId);
    const sql = sqlIn(tx);
    const at = services.clock.now();
    const deleted = await sql.run(removeItems, { workspaceId, itemIds: item_ids });
    const actedBy = auditActorOf(actor);
    await recordAudits(
      sql,
      deleted.map((item) => ({
        workspaceId,
        at,
        actor: actedBy,
        action: 'library_item.deleted',
        target: { kind: 'library_item', id: item.id, name: item.name },
        before: { mime_type: item.mime_type, size: item.size },
      })),
    );
    await emitAll(
      sql,
      at,
      deleted.map((item) => itemDeleted(workspaceId, item, actor)),
    );
    return deleted;
  });
  const fileKeys = rows.map(({ file_key }) => file_key);
  await removeFilesOfCall(services, fileKeys);
  return toResult(item_ids, rows);
}

function toResult(requested: readonly number[], rows: readonly { id: number }[]): BulkResult {
  const found = new Set(rows.map(({ id }) => id));
  return {
    item_ids: requested.filter((id) => found.has(id)),
    not_found: requested.filter((id) => !found.has(id)),
  };
}

/**
 * Assigns and removes labels of the items that exist, in one transaction. Assigning a label that an item already has,
 * or removing one that it does not have, changes nothing. If one of the labels does not exist, throws 404 "Label not
 * found".
 */
export async function labelItems(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { item_ids, add_label_ids, remove_label_ids }: LabelItemsInput,
): Promise<BulkResult> {
  const labelIds = [...new Set([...add_label_ids, ...remove_label_ids])];
  return transact(db, async (tx) => {
    const sql = sqlIn(tx);
    // Locked, so that no label is deleted before the commit.
    const labels = await sql.run(lockLabels, { workspaceId, labelIds });
    if (labels.length < labelIds.length) throw notFound('Label');
    const items = await sql.run(lockItems, { workspaceId, itemIds: item_ids });
    const itemIds = items.map(({ id }) => id);
    await sql.run(changeLabels, { workspaceId, itemIds, addedIds: add_label_ids, removedIds: remove_label_ids });
    return toResult(item_ids, items);
  });
}
