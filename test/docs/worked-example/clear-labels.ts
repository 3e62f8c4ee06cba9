import type { Actor } from '../../../src/auth/identify.ts';
import { notFound } from '../../../src/core/errors.ts';
import { runWrite } from '../../../src/db/client.ts';
import type { Services } from '../../../src/services.ts';
import type { ClearedLabels, ItemInput } from './schemas.ts';

/** Removes all labels from an item. Returns how many it had. Throws 404 "Item not found". */
export async function clearLabels(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { itemId }: ItemInput,
): Promise<ClearedLabels> {
  const where = { workspaceId_id: { workspaceId, id: itemId } };
  const item = await db.libraryItem.findUnique({ where, select: { id: true } });
  if (item === null) throw notFound('Item');
  const { count } = await runWrite(db, (tx) => tx.itemLabel.deleteMany({ where: { workspaceId, itemId } }));
  return { removed: count };
}
