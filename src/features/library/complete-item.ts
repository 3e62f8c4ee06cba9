import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { emit } from '../../events/emit.ts';

/**
 * Sets what was not known of an item when it was added: its duration in seconds, unless it has one, or its poster.
 * Emits `library_item.updated`. Call it with the workspace locked. Returns false, and changes nothing, if the item was
 * deleted.
 */
export async function completeItem(
  tx: Tx,
  now: Date,
  { workspaceId, itemId }: { workspaceId: number; itemId: number },
  data: { duration: number } | { posterKey: string },
): Promise<boolean> {
  const [item] = await tx.libraryItem.updateManyAndReturn({
    where: { workspaceId, id: itemId, ...('duration' in data && { duration: null }) },
    data,
    select: { name: true, mimeType: true, size: true, duration: true },
  });
  if (!item) return false;
  const { name, mimeType: mime_type, size, duration } = item;
  const fields = { workspace_id: workspaceId, item_id: itemId, name, mime_type, size: Number(size), duration };
  await emit(sqlIn(tx), now, { type: 'library_item.updated', workspaceId, data: fields });
  return true;
}
