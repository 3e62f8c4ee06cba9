import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { creatorName } from '../../core/people.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Database, Prisma, type Tx } from '../../db/client.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import type { MediaType } from '../../media/file-type.ts';
import type { Services } from '../../services.ts';
import type { ItemInput, ItemLabel, ItemsAnswer, LibraryItem, ListItemsInput } from './schemas.ts';

type ItemRow = {
  id: number;
  workspace_id: number;
  uploaded_by: number | null;
  uploaded_by_name: string | null;
  name: string;
  description: string;
  mime_type: MediaType;
  size: bigint;
  duration: number | null;
  labels: ItemLabel[];
  created_at: Date;
  updated_at: Date;
};

/**
 * The public fields of the rows that the query aliases as `i`. Subqueries read the uploader and the labels, for the
 * rows of the page only.
 */
const itemColumns = Prisma.sql`
  i.id, i.workspace_id, i.uploaded_by, (select u.name from users u where u.id = i.uploaded_by) as uploaded_by_name,
  i.name, i.description, i.mime_type, i.size, i.duration, i.created_at, i.updated_at,
  coalesce((select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.created_at, l.id)
    from item_labels il join labels l on l.workspace_id = il.workspace_id and l.id = il.label_id
    where il.workspace_id = i.workspace_id and il.item_id = i.id), '[]'::json) as labels`;

// The caller selects one of these fixed fragments, so no input becomes SQL. Ties are broken by id in the same
// direction.
const orderBy = {
  date: { asc: Prisma.sql`created_at, id`, desc: Prisma.sql`created_at desc, id desc` },
  name: { asc: Prisma.sql`lower(name), id`, desc: Prisma.sql`lower(name) desc, id desc` },
  size: { asc: Prisma.sql`size, id`, desc: Prisma.sql`size desc, id desc` },
} as const;

/**
 * Lists the workspace's items a page at a time. `total` is the number of all items that match.
 *
 * Without a filter, `total` is a counter in the workspace's row. With a filter, the matching rows are materialized
 * first, then counted and sorted. Otherwise PostgreSQL's generic plan scans the sort index and tests every name.
 */
export async function listItems(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { search, label, sort, order, limit, offset }: ListItemsInput,
): Promise<ItemsAnswer> {
  // A search without a label uses the index `library_items_search`, so the condition repeats its expression.
  const isIndexed = search !== undefined && search !== '' && label === undefined;
  const conditions = [
    isIndexed ? Prisma.sql`workspace_id::bigint = ${workspaceId}::bigint` : Prisma.sql`workspace_id = ${workspaceId}`,
  ];
  if (search) conditions.push(Prisma.sql`name ilike ${toLikePattern(search)}`);
  if (label !== undefined)
    conditions.push(Prisma.sql`id in (
      select item_id from item_labels where workspace_id = ${workspaceId} and label_id = ${label})`);
  const isFiltered = conditions.length > 1;
  const matches = Prisma.sql`matching as materialized (
    select * from library_items where ${Prisma.join(conditions, ' and ')}), `;
  const source = isFiltered ? Prisma.sql`matching` : Prisma.sql`library_items where workspace_id = ${workspaceId}`;
  const total = isFiltered
    ? Prisma.sql`(select count(*)::int from matching)`
    : Prisma.sql`(select library_item_count from workspaces where id = ${workspaceId})`;
  const ordered = orderBy[sort][order];
  const rows = await db.$queryRaw<((ItemRow | { id: null }) & { total: number })[]>`
    with ${isFiltered ? matches : Prisma.empty} page as materialized (
      select *, row_number() over (order by ${ordered}) as position
      from ${source} order by ${ordered} limit ${limit} offset ${offset})
    select n.total, item.* from (select ${total} as total) n
    left join lateral (select ${itemColumns}, i.position from page i) item on true order by item.position`;
  return {
    items: rows.flatMap((row) => (row.id === null ? [] : [toItem(row)])),
    total: rows[0]?.total ?? 0,
  };
}

function toItem(row: ItemRow): LibraryItem {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    uploaded_by: row.uploaded_by,
    uploaded_by_name: creatorName(row.uploaded_by_name),
    name: row.name,
    description: row.description,
    file_url: null,
    mime_type: row.mime_type,
    size: Number(row.size),
    duration: row.duration,
    labels: row.labels,
    created_at: toUnixSeconds(row.created_at),
    updated_at: toUnixSeconds(row.updated_at),
  };
}

/** Reads one item. Throws 404. */
export async function readItem(
  db: Database | Tx,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  { itemId }: ItemInput,
): Promise<LibraryItem> {
  const [row] = await db.$queryRaw<ItemRow[]>`
    select ${itemColumns} from library_items i where i.workspace_id = ${workspaceId} and i.id = ${itemId}`;
  if (!row) throw notFound('Item');
  return toItem(row);
}
