/** Updates, deletes and downloads an item. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { runWrite, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, statement, text } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObject } from '../../storage/discarded-objects.ts';
import { signDownload } from '../../storage/sign-download.ts';
import { itemDeleted } from './item-events.ts';
import { requireInReach } from './label-limit.ts';
import { readItem } from './read-items.ts';
import type { Download, DownloadInput, ItemInput, LibraryItem, UpdateItemInput } from './schemas.ts';

const removeItem = statement('delete-item', {
  params: { workspaceId: int, itemId: int, ...auditParams },
  returns: { name: text, mime_type: text, size: float, file_key: text },
  sql: `
    with deleted as (
      delete from library_items where workspace_id = $workspaceId and id = $itemId
      returning id, name, mime_type, size, file_key),
    audited as (${insertAuditFrom('deleted', {
      target: 'library_item',
      action: 'library_item.deleted',
      targetId: 'id',
      details: "json_build_object('name', name, 'before', json_build_object('mime_type', mime_type, 'size', size))",
    })})
    select name, mime_type, size::float8 as size, file_key from deleted`,
});

const fileOfItem = statement('find-file-of-item', {
  params: { workspaceId: int, itemId: int },
  returns: { name: text, mime_type: text, file_key: text },
  sql: `
    select name, mime_type, file_key from library_items where workspace_id = $workspaceId and id = $itemId`,
});

/** Updates only the fields that are sent. Throws 404. */
export async function updateItem(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { itemId, name, description }: UpdateItemInput,
  origin: string,
): Promise<LibraryItem> {
  const data = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
  if (Object.keys(data).length > 0)
    await runWrite(db, (tx) =>
      tx.libraryItem.updateMany({
        where: { workspaceId: actor.workspaceId, id: itemId },
        data: { ...data, updatedAt: clock.now() },
      }),
    );
  return readItem(db.sql, actor, { itemId }, origin);
}

/**
 * Deletes an item and its file. Emits `library_item.deleted`. Deletes the file before it returns, or later if the store
 * is unavailable. Throws 404.
 */
export async function deleteItem(services: Services, actor: Actor, { itemId }: ItemInput): Promise<{ ok: true }> {
  const { workspaceId } = actor;
  const fileKey = await transact(services.db, async (tx) => {
    // The trigger that counts items locks the workspace after the item. Locking the workspace first avoids deadlocks.
    await lockWorkspace(tx, workspaceId, 'Item');
    const now = services.clock.now();
    const audit = toAuditParams(auditActorOf(actor), now);
    const [row] = await sqlIn(tx).run(removeItem, { workspaceId, itemId, ...audit });
    if (!row) throw notFound('Item');
    await emit(sqlIn(tx), now, itemDeleted(workspaceId, { ...row, id: itemId }, actor));
    return row.file_key;
  });
  await removeDiscardedObject(services, fileKey);
  return { ok: true };
}

/**
 * Returns a URL that serves the file for 15 minutes (by default). `origin` is the public origin of this service. Throws
 * 404.
 */
export async function createDownload(
  { db, store, clock, settings }: Pick<Services, 'db' | 'store' | 'clock' | 'settings'>,
  actor: Actor,
  { itemId, disposition }: DownloadInput,
  origin: string,
): Promise<Download> {
  await requireInReach(db.sql, actor, itemId);
  const [item] = await db.sql.run(fileOfItem, { workspaceId: actor.workspaceId, itemId });
  if (!item) throw notFound('Item');
  return signDownload({ store, clock, settings }, item.file_key, {
    filename: item.name,
    contentType: item.mime_type,
    isInline: disposition === 'inline',
    origin,
  });
}
