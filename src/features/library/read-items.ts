import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import type { Services } from '../../services.ts';
import { itemById, itemLists, type ListedRow } from './item-statements.ts';
import type { ItemInput, ItemsAnswer, LibraryItem, ListItemsInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Lists the workspace's items a page at a time. `total` is the number of all items that match. */
export async function listItems({ db }: Db, { workspaceId }: Actor, input: ListItemsInput): Promise<ItemsAnswer> {
  const rows = await runList(db, workspaceId, input);
  // Each item has `total` too, which the output schema drops.
  return { items: rows.filter(isItem), total: rows[0]?.total ?? 0 };
}

function runList(
  { sql }: Services['db'],
  workspaceId: number,
  { search, label, sort, order, limit, offset }: ListItemsInput,
): Promise<ListedRow[]> {
  const page = { workspaceId, limit, offset };
  const pattern = search ? toLikePattern(search) : null;
  if (pattern === null && label === undefined) return sql.run(itemLists.all[sort][order], page);
  if (label === undefined) return sql.run(itemLists.search[sort][order], { ...page, pattern });
  if (pattern === null) return sql.run(itemLists.label[sort][order], { ...page, label });
  return sql.run(itemLists.searchAndLabel[sort][order], { ...page, pattern, label });
}

/** Whether a row has an item: a list without items has a row for its total. */
function isItem(row: ListedRow): row is ListedRow & LibraryItem {
  return row.id !== null;
}

/** Reads one item. Throws 404. */
export async function readItem(
  { sql }: Pick<Services['db'], 'sql'>,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  { itemId }: ItemInput,
): Promise<LibraryItem> {
  const [item] = await sql.run(itemById, { workspaceId, itemId });
  if (!item) throw notFound('Item');
  return item;
}
