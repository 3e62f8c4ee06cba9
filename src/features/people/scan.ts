/** Reads what belongs to a person, also from tables that have no index for it: page by page, in the order of a key. */
import { int, json, nullable, type Sql, type SqlType, type Statement, statement, text } from '../../db/statements.ts';
import { allowManyStatements } from '../../db/time-limits.ts';

/** Rows per statement, so that no statement takes long. */
const PAGE_SIZE = 1_000;
/** Comes before every key. */
const START = '0';

type Types = Readonly<Record<string, SqlType<never>>>;
type Page = { last: string | null; scanned: number; records: object[] };

/**
 * Declares a scan. `from` reads the rows `t` after the key `$after`, in the order of their text `t.key`; `isMatch`
 * selects those of the person, and `record` is the JSON that is read from each.
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

/** Yields the records of a scan, a page at a time. Each page is a statement of its own. */
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
