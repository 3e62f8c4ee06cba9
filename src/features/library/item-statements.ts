/** The statements that read items. Their rows have the fields of the response. */
import { creatorNameOf, secondsOf } from '../../db/columns.ts';
import { type ListOrder, pagedList } from '../../db/pages.ts';
import { float, int, json, nullable, oneOf, type RowOf, type SqlType, statement, text } from '../../db/statements.ts';
import type { LibraryType } from '../../media/file-type.ts';
import { posterUrlOf } from '../../media/posters.ts';
import { type ItemLabel, type ListItemsInput, MAX_LISTED_ITEMS } from './schemas.ts';

type Sort = ListItemsInput['sort'];
type Order = ListItemsInput['order'];

const alwaysNull: SqlType<null> = { name: 'text' };

const itemFields = {
  id: int,
  workspace_id: int,
  uploaded_by: nullable(int),
  uploaded_by_name: text,
  name: text,
  description: text,
  file_url: alwaysNull,
  poster_url: nullable(text),
  mime_type: oneOf<LibraryType>(),
  size: float,
  duration: nullable(int),
  labels: json<ItemLabel[]>('json'),
  created_at: float,
  updated_at: float,
};

/**
 * SQL for the items in the common table expression `page`. Collects the labels once for the whole page, not for each
 * item.
 */
const assigned = `
    assigned as (
      select il.item_id, json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color)
        order by l.created_at, l.id) as labels
      from page i
      join item_labels il on il.workspace_id = i.workspace_id and il.item_id = i.id
      join labels l on l.workspace_id = il.workspace_id and l.id = il.label_id
      group by il.item_id)`;
/** `$origin` is the origin of the URL of the poster. */
const itemColumns = `
    i.id, i.workspace_id, i.uploaded_by, ${creatorNameOf('u.name')} as uploaded_by_name, i.name, i.description,
      null as file_url,
      ${posterUrlOf('i.poster_key', "'/api/workspaces/' || i.workspace_id || '/library/' || i.id")} as poster_url,
      i.mime_type, i.size::float8 as size, i.duration, coalesce(a.labels, '[]') as labels,
      ${secondsOf('i.created_at')} as created_at, ${secondsOf('i.updated_at')} as updated_at`;
const itemTables = `page i left join assigned a on a.item_id = i.id left join users u on u.id = i.uploaded_by`;

export const itemById = statement('read-item', {
  params: { workspaceId: int, itemId: int, origin: text },
  returns: itemFields,
  sql: `
    with page as materialized (
      select * from library_items where workspace_id = $workspaceId and id = $itemId limit 1),${assigned}
    select ${itemColumns} from ${itemTables}`,
});

/**
 * The sort key of a list (`key`), the column that it is computed from (`source`), and the expression for the exact
 * `page_key` of a row (`column`). Ties are broken by ID in the same direction.
 */
const sorts = {
  date: {
    keyType: 'time',
    source: 'created_at',
    key: (table: string) => `${table}.created_at`,
    column: "round(date_part('epoch', i.created_at) * 1000)",
    type: float,
  },
  name: {
    keyType: 'text',
    source: 'name',
    key: (table: string) => `lower(${table}.name)`,
    column: 'lower(i.name)',
    type: text,
  },
  size: {
    keyType: 'number',
    source: 'size',
    key: (table: string) => `${table}.size`,
    column: 'i.size::float8',
    type: float,
  },
} as const satisfies Record<Sort, object>;

const listParams = { workspaceId: int, origin: text };
const hasLabel = `
        and id in (select item_id from item_labels where workspace_id = $workspaceId and label_id = $label)`;

/**
 * The lists by filter, sort field and order.
 *
 * Without a filter, `total` comes from a counter in the workspace's row. With a filter, the matching rows are
 * materialized, then counted and sorted, unless `readInOrder` contains the sort field. If the rows were not
 * materialized, the generic plan of PostgreSQL would scan the sort index and test every name. The condition of a search
 * without a label repeats the expression of the index `library_items_search`, so that PostgreSQL uses the index.
 */
export const itemLists = {
  all: declareLists('list-items', listParams, null),
  search: declareLists(
    'search-items',
    { ...listParams, pattern: text },
    'workspace_id::bigint = $workspaceId::bigint and name ilike $pattern',
  ),
  /**
   * For a pattern without trigrams. Many names match such a pattern. Comparing the lower-case name with LIKE gives the
   * same result as ILIKE. The date index also contains the names, so a page sorted by date is read in index order, and
   * the scan stops as soon as the page is full.
   */
  shortSearch: declareLists(
    'search-items-without-trigrams',
    { ...listParams, pattern: text },
    'workspace_id = $workspaceId and search_name like (select lower($pattern))',
    ['date'],
  ),
  label: declareLists('list-items-with-label', { ...listParams, label: int }, `workspace_id = $workspaceId${hasLabel}`),
  searchAndLabel: declareLists(
    'search-items-with-label',
    { ...listParams, pattern: text, label: int },
    `workspace_id = $workspaceId and name ilike $pattern${hasLabel}`,
  ),
};

export type ListedRow = RowOf<(typeof itemLists)['all']['date']['asc']['byOffset']>;

function declareLists<Params extends Readonly<Record<string, SqlType<never>>>>(
  name: string,
  params: Params,
  filter: string | null,
  readInOrder: readonly Sort[] = [],
) {
  const declare = (sort: Sort, order: Order) =>
    declareList(`${name}-by-${sort}-${order}`, params, { filter, isInOrder: readInOrder.includes(sort) }, sort, order);
  const declareBoth = (sort: Sort) => ({ asc: declare(sort, 'asc'), desc: declare(sort, 'desc') });
  return { date: declareBoth('date'), name: declareBoth('name'), size: declareBoth('size') };
}

/**
 * Each row contains `total`. An empty page has one row, in which all other fields are null.
 *
 * The outer limit is a constant, so that the planner knows how small a page is. With a parameter, the planner would
 * expect a tenth of all items, and read all label assignments.
 */
function declareList<Params extends Readonly<Record<string, SqlType<never>>>>(
  name: string,
  params: Params,
  { filter, isInOrder }: { filter: string | null; isInOrder: boolean },
  sort: Sort,
  order: Order,
) {
  const { keyType, source, key, column, type } = sorts[sort];
  const listOrder: ListOrder = { key: key('m'), keyType, id: 'm.id', direction: order };
  // `as`: the key is a string or a number, depending on `keyType`.
  const keyColumn = nullable(type as SqlType<string | number>);
  const isTogether = filter !== null && !isInOrder;
  const matching = isTogether && `matching as materialized (select id, ${source} from library_items where ${filter}),`;
  const candidates = isTogether ? 'matching m where true' : `library_items m where ${filter}`;
  const total = filter
    ? `select count(*)::int from ${isTogether ? 'matching' : `library_items where ${filter}`}`
    : 'select library_item_count from workspaces where id = $workspaceId';
  return pagedList(name, {
    order: listOrder,
    params,
    returns: { total: int, ...itemFields, id: nullable(int), page_key: keyColumn },
    sql: ({ after, window }) => {
      const items = filter
        ? `(select id from ${candidates} ${after} ${window}) p
          cross join lateral (
            select * from library_items where workspace_id = $workspaceId and id = p.id limit 1) i`
        : `(select * from library_items m where m.workspace_id = $workspaceId ${after} ${window}) i`;
      return `
    with ${matching || ''} page as materialized (
      select i.* from ${items}
      limit ${MAX_LISTED_ITEMS + 1}),${assigned}
    select n.total, ${itemColumns}, ${column} as page_key
    from (select (${total}) as total) n left join (${itemTables}) on true
    order by ${key('i')} ${order}, i.id ${order}`;
    },
  });
}
