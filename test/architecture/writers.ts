/**
 * Finds which file of the source writes which table: with `insert`, `update` and `delete` in SQL, and with Prisma's
 * models. `tables.ts` says which folder may.
 */

export type Write = { path: string; table: string };

/** The name of the table in a statement that writes it. A locking clause, such as `for update of m`, is no write. */
const SQL_WRITE =
  /\b(?:insert\s+into|delete\s+from(?:\s+only)?|truncate(?:\s+table)?|merge\s+into)\s+"?(\w+|\$\{\w+\})|\bupdate\s+(?:only\s+)?"?(\w+|\$\{\w+\})"?\s+(?:(?:as\s+)?\w+\s+)?set\b/gi;

const MODEL_WRITE =
  /\.(\w+)\s*\.(?:create|createMany|createManyAndReturn|update|updateMany|updateManyAndReturn|upsert|delete|deleteMany)\(/g;

/** A line that is only a comment. */
const COMMENT = /^\s*(?:\/?\*|\/\/).*$/gm;

const MODEL = /^model (\w+) \{.*?^ {2}@@map\("(\w+)"\)/gms;

/** The tables of the schema, by the names that Prisma's client gives to their models. */
export function tablesOf(schema: string): Map<string, string> {
  return new Map(
    [...schema.matchAll(MODEL)].map(([, model = '', table = '']) => [
      `${model.slice(0, 1).toLowerCase()}${model.slice(1)}`,
      table,
    ]),
  );
}

/**
 * The tables that a file writes, in the order of their names. A statement about a table that is chosen while the
 * service runs (`update ${table}`) counts as a write to the table `*`. Names that are no table are left out, such as
 * those of parts of a statement.
 */
export function writesOf(text: string, tables: ReadonlyMap<string, string>): string[] {
  const code = text.replaceAll(COMMENT, '');
  const known = new Set(tables.values());
  const bySql = [...code.matchAll(SQL_WRITE)].map(([, first, second]) => first ?? second ?? '');
  const byModel = [...code.matchAll(MODEL_WRITE)].map(([, model = '']) => tables.get(model) ?? '');
  const found = [...bySql, ...byModel].map((name) => (name.startsWith('$') ? '*' : name));
  return [...new Set(found)].filter((name) => name === '*' || known.has(name)).sort();
}
