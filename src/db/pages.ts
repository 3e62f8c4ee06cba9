/** Lists that are read a page at a time, by offset or by cursor. */
import { type Cursor, type CursorValue, checksumOf, cursorValues, encodeCursor } from '../core/cursor.ts';
import { badField } from '../core/errors.ts';
import { MAX_LISTED, type Page, type PageRequest } from '../core/list-page.ts';
import { countFitting } from './page-bytes.ts';
import { float, int, type Sql, type SqlType, type Statement, statement, text, time } from './statements.ts';

/** A page that may be longer is read again, unless so many rows exceed the size of a page already. */
const MAX_FIRST_ROWS = 250;

type Types = Readonly<Record<string, SqlType<never>>>;
type Values<Of> = { [Name in keyof Of]: Of[Name] extends SqlType<infer Value> ? Value : never };

const bigint: SqlType<number> = { name: 'int8' };

/** How a sort key is sent to the database. */
const keyTypes: Record<CursorValue, SqlType<never>> = { time, number: bigint, id: int, text };

/**
 * The order of a list. `key` is the expression that it is sorted by, and `id` breaks ties in the same direction.
 * Without `id`, the key is the unique ID of the entry.
 */
export type ListOrder = {
  key: string;
  keyType: CursorValue;
  id?: string;
  idType?: 'id' | 'number' | 'text';
  direction: 'asc' | 'desc';
};

/** The parts of a list's statement that select a page. */
export type PageText = {
  /** A condition that begins with `and`; empty if the page is selected by offset. */
  after: string;
  /** `order by`, and `limit` and `offset`. */
  window: string;
};

type Window = { limit: number; offset: number };
type After = { afterKey: unknown; afterId: unknown };

/** A list with a statement for pages by offset, and one for pages by cursor. */
export type PagedList<Params, Row> = {
  name: string;
  order: ListOrder;
  byOffset: Statement<Params & Window, Row>;
  byCursor: Statement<Params & Window & After, Row>;
};

/** The columns of a row from which a cursor is made. `page_key` is absent if the list is sorted by `id` alone. */
export type PageRow = { id: string | number; page_key?: string | number | null };

/**
 * The column `page_key` of a list that is sorted by the time `column`. In milliseconds, because the other time columns
 * of the row have only whole seconds, which would be too coarse.
 */
export function timeKeyOf(column: string): string {
  return `round(date_part('epoch', ${column}) * 1000) as page_key`;
}
export const timeKey = { page_key: float } as const;

/** Sorts a list by a time, then by id. */
export function byTime(key: string, id: string, direction: 'asc' | 'desc'): ListOrder {
  return { key, keyType: 'time', id, direction };
}

/** Declares the statements of a list. `sql` returns the SQL that selects a page. */
export function pagedList<const Params extends Types, const Columns extends Types>(
  name: string,
  {
    params,
    returns,
    order,
    sql,
  }: { params: Params; returns: Columns; order: ListOrder; sql: (page: PageText) => string },
): PagedList<Values<Params>, Values<Columns>> {
  const { key, keyType, id, idType = 'id', direction } = order;
  const sorted = `order by ${key} ${direction}${id === undefined ? '' : `, ${id} ${direction}`}`;
  const window = `${sorted} limit $limit offset $offset`;
  const sign = direction === 'asc' ? '>' : '<';
  const after = id === undefined ? `and ${key} ${sign} $afterKey` : `and (${key}, ${id}) ${sign} ($afterKey, $afterId)`;
  const windowParams = { limit: int, offset: int };
  const afterParams = { afterKey: keyTypes[keyType], ...(id !== undefined && { afterId: keyTypes[idType] }) };
  const byOffset = statement(name, {
    params: { ...params, ...windowParams },
    returns,
    sql: sql({ after: '', window }),
  });
  const byCursor = statement(`${name}-after`, {
    params: { ...params, ...windowParams, ...afterParams },
    returns,
    sql: sql({ after, window }),
  });
  // `as`: TypeScript cannot infer that `Values` of the merged parameters is the merge of their `Values`.
  return { name, order, byOffset, byCursor } as unknown as PagedList<Values<Params>, Values<Columns>>;
}

/**
 * Reads a page. `filters` are the values that, besides the caller, decide what the list contains: a cursor is valid
 * only with the same ones. Throws 400 for a cursor of another list.
 */
export async function readPage<Params, Row extends PageRow>(
  sql: Sql,
  list: PagedList<Params, Row>,
  params: Params,
  page: PageRequest,
  filters: readonly unknown[],
): Promise<Page<Row>> {
  return toPage(list, await runPage(sql, list, params, page, filters), page, filters);
}

/**
 * Runs the statement of a page. It may return more entries than the page has, which shows that there are more. Does not
 * read many more large rows than a page has, which would take the database and this process longer than the page.
 */
export async function runPage<Params, Row extends object>(
  sql: Sql,
  list: PagedList<Params, Row>,
  params: Params,
  { limit = MAX_LISTED, offset = 0, cursor }: PageRequest,
  filters: readonly unknown[],
): Promise<Row[]> {
  const read = (count: number): Promise<Row[]> => {
    const window = { ...params, limit: count, offset };
    if (cursor === undefined) return sql.run(list.byOffset, window);
    const { key, id } = requireCursor(list, cursor, offset, filters);
    const afterKey = list.order.keyType === 'time' ? new Date(Number(key)) : key;
    return sql.run(list.byCursor, { ...window, afterKey, afterId: id });
  };
  if (limit <= MAX_FIRST_ROWS) return read(limit + 1);
  const rows = await read(MAX_FIRST_ROWS);
  return rows.length < MAX_FIRST_ROWS || countFitting(rows) < rows.length ? rows : read(limit + 1);
}

/** Throws 400 unless the cursor was created by this list with these filters. */
export function requireCursor(
  { name, order }: Pick<PagedList<never, never>, 'name' | 'order'>,
  cursor: Cursor,
  offset: number,
  filters: readonly unknown[],
): Cursor {
  if (offset > 0) throw badField('cursor', 'Send either cursor or offset');
  const isKey = cursorValues[order.keyType];
  const isId = cursorValues[order.id === undefined ? order.keyType : (order.idType ?? 'id')];
  if (cursor.list !== checksumOf(name, filters) || !isKey(cursor.key) || !isId(cursor.id))
    throw badField('cursor', 'cursor must come from this list, with the same filters and order');
  return cursor;
}

/** Makes a page from the rows that `runPage` returned. A page of large rows ends earlier than `limit`. */
export function toPage<Row extends PageRow>(
  { name, order }: Pick<PagedList<never, never>, 'name' | 'order'>,
  rows: Row[],
  { limit = MAX_LISTED }: PageRequest,
  filters: readonly unknown[],
): Page<Row> {
  const entries = rows.slice(0, countFitting(rows.length > limit ? rows.slice(0, limit) : rows));
  const last = entries.at(-1);
  if (entries.length === rows.length || last === undefined) return { entries };
  const { id, page_key } = last;
  const key = order.id === undefined ? id : (page_key ?? id);
  const cursor = encodeCursor({ list: checksumOf(name, filters), key, id });
  return { entries, next_cursor: cursor };
}
