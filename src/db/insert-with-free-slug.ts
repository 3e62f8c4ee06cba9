import { randomUUID } from 'node:crypto';
import type { Tx } from './client.ts';
import { onlyRow } from './only-row.ts';
import { sqlIn } from './sql.ts';
import { int, statement, text } from './statements.ts';

/**
 * How many numbered slugs are tried. Without a limit, somebody could block a name by taking many of its numbered slugs.
 */
const MAX_NUMBERED_ATTEMPTS = 3;

/**
 * Calls `insert` with one slug after another until it returns a row, and returns that row. `insert` returns undefined
 * for a slug that is taken. The slugs are `base`, then `base-2` and so on, then `base` with eight random characters.
 * `counter` names the row of `slug_suffixes` that supplies the numbers.
 */
export async function insertWithFreeSlug<Row>(
  tx: Tx,
  { base, counter = base }: { base: string; counter?: string },
  insert: (slug: string) => Promise<Row | undefined>,
): Promise<Row> {
  for (let attempt = 0; ; attempt += 1) {
    const row = await insert(await createSlug(tx, base, counter, attempt));
    if (row !== undefined) return row;
  }
}

async function createSlug(tx: Tx, base: string, counter: string, attempt: number): Promise<string> {
  if (attempt === 0) return base;
  if (attempt <= MAX_NUMBERED_ATTEMPTS) return `${base}-${await nextNumber(tx, counter)}`;
  return `${base}-${randomUUID().slice(0, 8)}`;
}

const takeNumber = statement('take-slug-number', {
  params: { counter: text },
  returns: { last: int },
  sql: `
    insert into slug_suffixes (slug, last) values ($counter, 2)
    on conflict (slug) do update set last = slug_suffixes.last + 1 returning last`,
});

/** Concurrent callers wait for each other, and get different numbers. */
async function nextNumber(tx: Tx, counter: string): Promise<number> {
  return onlyRow(await sqlIn(tx).run(takeNumber, { counter })).last;
}
