/** The labels of items. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { isForeignKeyViolation, retryDeadlocks } from '../../db/errors.ts';
import type { Services } from '../../services.ts';
import { readItem } from './read-items.ts';
import type { AssignLabelInput, ItemLabel } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Assigns a label to an item. Assigning it again changes nothing. Returns all labels of the item. Throws 404. */
export async function assignLabel(
  { db }: Db,
  actor: Actor,
  { itemId, labelId }: AssignLabelInput,
): Promise<ItemLabel[]> {
  const { workspaceId } = actor;
  await readItem(db, actor, { itemId });
  try {
    // This insert locks the item before the label. Deleting a workspace locks labels first, so the two can deadlock.
    await retryDeadlocks(() =>
      db.itemLabel.createMany({ data: { workspaceId, itemId, labelId }, skipDuplicates: true }),
    );
  } catch (error) {
    // Either the label does not exist, or the item was deleted after the first read.
    if (!isForeignKeyViolation(error)) throw error;
    await readItem(db, actor, { itemId });
    throw notFound('Label');
  }
  return (await readItem(db, actor, { itemId })).labels;
}

/** Removes a label from an item, if it is assigned. Returns the remaining labels. Throws 404. */
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
