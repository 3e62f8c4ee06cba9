import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { emit } from '../../events/emit.ts';

/**
 * Sets the duration of an item, which was not known when it was added, in seconds. Emits `library_item.updated`. Call
 * it with the workspace locked. Does nothing if the item was deleted.
 */
export async function setItemDuration(
  tx: Tx,
  now: Date,
  { workspaceId, itemId }: { workspaceId: number; itemId: number },
  duration: number,
): Promise<void> {
  const [item] = await tx.libraryItem.updateManyAndReturn({
    where: { workspaceId, id: itemId, duration: null },
    data: { duration },
    select: { name: true, mimeType: true, size: true },
  });
  if (!item) return;
  const { name, mimeType: mime_type, size } = item;
  const data = { workspace_id: workspaceId, item_id: itemId, name, mime_type, size: Number(size), duration };
  await emit(sqlIn(tx), now, { type: 'library_item.updated', workspaceId, data });
}
