import type { Actor } from '../../auth/identify.ts';
import { embedScope, notFound } from '../../core/errors.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import { type PagedList, runPage, toPage } from '../../db/pages.ts';
import type { Sql } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { itemById, itemLists, type ListedRow } from './item-statements.ts';
import { limitingLabelOf, requireInReach } from './label-limit.ts';
import type { ItemInput, ItemsAnswer, LibraryItem, ListItemsInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Three consecutive letters or digits. A search without them cannot use the search index. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u;

/**
 * Lists a page of the workspace's items. `total` is the number of all matching items. `origin` is the origin of the
 * URLs of posters.
 */
export async function listItems({ db }: Db, actor: Actor, input: ListItemsInput, origin: string): Promise<ItemsAnswer> {
  const { workspaceId } = actor;
  const { search, sort, order } = input;
  const limit = limitingLabelOf(actor);
  if (limit !== null && input.label !== undefined && input.label !== limit) throw embedScope();
  const label = limit ?? input.label;
  const pattern = search ? toLikePattern(search) : null;
  const filters = [workspaceId, pattern, label];
  const read = async <Params>(list: PagedList<Params, ListedRow>, params: Params): Promise<ItemsAnswer> => {
    const rows = await runPage(db.sql, list, params, input, filters);
    // The rows also contain `total`, which the output schema drops.
    const { entries: items, next_cursor } = toPage(list, rows.filter(isItem), input, filters);
    return { items, total: rows[0]?.total ?? 0, next_cursor };
  };
  if (pattern === null && label === undefined) return read(itemLists.all[sort][order], { workspaceId, origin });
  if (label === undefined) {
    const lists = TRIGRAM.test(search ?? '') ? itemLists.search : itemLists.shortSearch;
    return read(lists[sort][order], { workspaceId, origin, pattern });
  }
  if (pattern === null) return read(itemLists.label[sort][order], { workspaceId, origin, label });
  return read(itemLists.searchAndLabel[sort][order], { workspaceId, origin, pattern, label });
}

/** Returns false for the row that holds only the total of an empty page. */
function isItem(row: ListedRow): row is ListedRow & LibraryItem {
  return row.id !== null;
}

/** Returns an item that the actor may see. `origin` is the origin of the URL of its poster. Throws 404. */
export async function openItem({ db }: Db, actor: Actor, input: ItemInput, origin: string): Promise<LibraryItem> {
  await requireInReach(db.sql, actor, input.itemId);
  return readItem(db.sql, actor, input, origin);
}

/** Returns an item. `origin` is the origin of the URL of its poster. Throws 404. */
export async function readItem(
  sql: Sql,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  { itemId }: ItemInput,
  origin: string,
): Promise<LibraryItem> {
  const [item] = await sql.run(itemById, { workspaceId, itemId, origin });
  if (!item) throw notFound('Item');
  return item;
}
