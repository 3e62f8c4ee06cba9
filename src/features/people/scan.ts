/**
 * Reads a person's records page by page, in the order of a key. This also works for tables without an index on the
 * columns that identify the person.
 */
import { int, json, nullable, type Sql, type SqlType, type Statement, statement, text } from '../../db/statements.ts';
import { allowManyStatements } from '../../db/time-limits.ts';

/** Rows per statement, few enough that no statement takes long. */
const PAGE_SIZE = 500;
/** Sorts before every key. */
const START = '0';

type Types = Readonly<Record<string, SqlType<never>>>;
type Page = { last: string | null; scanned: number; records: object[] };

/**
 * Declares a scan. `from` reads the rows `t` after the key `$after`, in the order of their keys. `t.key` is the key as
 * text. `isMatch` selects the person's rows, and `record` is the JSON to return for each.
 */
export function declareScan<const Params extends Types>(
  name: string,
  { params, from, isMatch = 'true', record }: { params: Params; from: string; isMatch?: string; record: string },
) {
  return statement(name, {
    params: { ...params, after: text },
    returns: { last: nullable(text), scanned: int, records: json<object[]>('json') },
    sql: `
      select (array_agg(t.key))[count(*)] as last, count(*)::int as scanned,
        coalesce(json_agg(${record}) filter (where ${isMatch}), '[]'::json) as records
      from (${from} limit ${PAGE_SIZE}) t`,
  });
}

/** Yields the records of a scan, one page at a time. Each page is a separate statement. */
export async function* scan<Params extends object>(
  sql: Sql,
  statement: Statement<Params & { after: string }, Page>,
  params: Params,
): AsyncGenerator<object[], void, undefined> {
  for (let after = START; ; ) {
    const [page] = await allowManyStatements(() => sql.run(statement, { ...params, after }));
    if (!page?.last) return;
    yield page.records;
    if (page.scanned < PAGE_SIZE) return;
    after = page.last;
  }
}
