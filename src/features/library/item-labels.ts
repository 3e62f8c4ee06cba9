/** Labels on items. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { isForeignKeyViolation, retryDeadlocks } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { readItem } from './read-items.ts';
import type { AssignLabelInput, ItemLabel } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Puts a label on an item, and answers all labels of the item; twice is as once. Throws 404 for either. */
export async function assignLabel(
  { db }: Db,
  actor: Actor,
  { itemId, labelId }: AssignLabelInput,
): Promise<ItemLabel[]> {
  const { workspaceId } = actor;
  await readItem(db, actor, { itemId });
  try {
    // Deleting a workspace locks labels before items; this locks them the other way round.
    await retryDeadlocks(() =>
      db.itemLabel.createMany({ data: { workspaceId, itemId, labelId }, skipDuplicates: true }),
    );
  } catch (error) {
    // The item was there: it is the label that is not, or the item went meanwhile, which the read below tells.
    if (!isForeignKeyViolation(error)) throw error;
    await readItem(db, actor, { itemId });
    throw notFound('Label');
  }
  return (await readItem(db, actor, { itemId })).labels;
}

/** Takes a label off an item, and answers those that remain. Throws 404 for an item or label that is not there. */
export async function unassignLabel(
  { db }: Db,
  actor: Actor,
  { itemId, labelId }: AssignLabelInput,
): Promise<ItemLabel[]> {
  const { workspaceId } = actor;
  const { count } = await db.itemLabel.deleteMany({ where: { workspaceId, itemId, labelId } });
  const { labels } = await readItem(db, actor, { itemId });
  if (count === 0) {
    const label = await db.label.findFirst({ where: { workspaceId, id: labelId }, select: { id: true } });
    if (label === null) throw notFound('Label');
  }
  return labels;
}
