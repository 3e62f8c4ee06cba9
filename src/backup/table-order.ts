/** The order in which tables can be filled. */
import type { Connection } from '../db/connect.ts';

type Reference = { from: string; to: string };

/** A constraint that is checked at the end of the transaction needs no order. */
const LIST_REFERENCES = `
  SELECT source.relname AS "from", target.relname AS "to"
  FROM pg_constraint c JOIN pg_class source ON source.oid = c.conrelid JOIN pg_class target ON target.oid = c.confrelid
  WHERE c.contype = 'f' AND NOT c.condeferrable AND c.conrelid <> c.confrelid
    AND c.connamespace = 'public'::regnamespace`;

/** Sorts tables so that each comes after those that its foreign keys refer to. */
export async function orderByReferences<Named extends { name: string }>(
  client: Connection,
  tables: readonly Named[],
): Promise<Named[]> {
  const { rows } = await client.query<Reference>(LIST_REFERENCES);
  const ordered: Named[] = [];
  let rest = [...tables];
  while (rest.length > 0) {
    const waiting = new Set(rest.map(({ name }) => name));
    const isFree = ({ name }: Named): boolean => !rows.some(({ from, to }) => from === name && waiting.has(to));
    const free = rest.filter(isFree);
    if (free.length === 0) throw new Error(`The foreign keys of ${[...waiting].join(', ')} form a cycle`);
    ordered.push(...free);
    rest = rest.filter((table) => !free.includes(table));
  }
  return ordered;
}
