/** Assigns labels to items, and removes them. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { bool, int, type Statement, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { AssignLabelInput, ItemLabel } from './schemas.ts';

type Db = Pick<Services, 'db'>;

type Assignment = { workspaceId: number; itemId: number; labelId: number };

const assignment = { workspaceId: int, itemId: int, labelId: int };

/** `has_item` is true if the item exists. `has_label` is true if the label exists or was assigned to the item. */
const found = { has_item: bool, has_label: bool };

const addItemLabel = statement('add-item-label', {
  params: assignment,
  returns: found,
  sql: `
    with item as (select id from library_items where workspace_id = $workspaceId and id = $itemId),
    label as (select id from labels where workspace_id = $workspaceId and id = $labelId),
    added as (
      insert into item_labels (workspace_id, item_id, label_id)
      select $workspaceId, item.id, label.id from item, label on conflict do nothing)
    select exists (select from item) as has_item, exists (select from label) as has_label`,
});

const removeItemLabel = statement('remove-item-label', {
  params: assignment,
  returns: found,
  sql: `
    with removed as (
      delete from item_labels where workspace_id = $workspaceId and item_id = $itemId and label_id = $labelId
      returning label_id)
    select exists (select from library_items where workspace_id = $workspaceId and id = $itemId) as has_item,
      exists (select from removed)
        or exists (select from labels where workspace_id = $workspaceId and id = $labelId) as has_label`,
});

// `limit 1` makes PostgreSQL look up each label instead of reading all labels of the workspace.
const listItemLabels = statement('list-item-labels', {
  params: { workspaceId: int, itemId: int },
  returns: { id: int, name: text, color: text },
  sql: `
    select l.id, l.name, l.color
    from item_labels il cross join lateral (
      select id, name, color, created_at from labels
      where workspace_id = il.workspace_id and id = il.label_id limit 1) l
    where il.workspace_id = $workspaceId and il.item_id = $itemId order by l.created_at, l.id`,
});

/** Assigns a label to an item. Assigning it again changes nothing. Returns all labels of the item. Throws 404. */
export async function assignLabel(services: Db, actor: Actor, input: AssignLabelInput): Promise<ItemLabel[]> {
  try {
    return await change(services, addItemLabel, actor, input);
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    // The item or the label was deleted in the meantime. A retry finds out which one.
    return assignLabel(services, actor, input);
  }
}

/**
 * Runs a statement that changes the labels of an item, and lists the labels after its commit. A single statement would
 * not see labels that are assigned concurrently. Several concurrent calls could then all return an incomplete list.
 */
async function change(
  { db }: Db,
  statement: Statement<Assignment, { has_item: boolean; has_label: boolean }>,
  { workspaceId }: Actor,
  { itemId, labelId }: AssignLabelInput,
): Promise<ItemLabel[]> {
  const [rows, labels] = await db.sql.runBoth(
    (sql) => sql.run(statement, { workspaceId, itemId, labelId }),
    (sql) => sql.run(listItemLabels, { workspaceId, itemId }),
  );
  const { has_item, has_label } = onlyRow(rows);
  if (!has_item) throw notFound('Item');
  if (!has_label) throw notFound('Label');
  return labels;
}

/** Removes a label from an item if it is assigned. Returns the remaining labels. Throws 404. */
export function unassignLabel(services: Db, actor: Actor, input: AssignLabelInput): Promise<ItemLabel[]> {
  return change(services, removeItemLabel, actor, input);
}
