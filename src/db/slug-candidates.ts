/** Slugs to try until one is free. */
import { randomUUID } from 'node:crypto';
import type { Tx } from './client.ts';

/** How many numbered slugs are tried. Somebody who takes them in advance must not block the name. */
const NUMBERED_TRIES = 3;

/**
 * Yields `base`, then `base-2` and so on from the counter named `counter`, then without end `base-` and eight random
 * characters that nobody can guess.
 */
export async function* slugCandidates(tx: Tx, base: string, counter = base): AsyncGenerator<string> {
  yield base;
  for (let tries = 0; tries < NUMBERED_TRIES; tries += 1) yield `${base}-${await nextSuffix(tx, counter)}`;
  for (;;) yield `${base}-${randomUUID().slice(0, 8)}`;
}

/** Returns the next number of a counter. Concurrent callers wait for each other and get different numbers. */
async function nextSuffix(tx: Tx, counter: string): Promise<number> {
  const [row] = await tx.$queryRaw<{ last: number }[]>`
    insert into slug_suffixes (slug, last) values (${counter}, 2)
    on conflict (slug) do update set last = slug_suffixes.last + 1 returning last`;
  if (!row) throw new Error('An upsert returned no row');
  return row.last;
}
