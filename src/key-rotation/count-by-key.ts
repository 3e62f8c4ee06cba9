/** Counts the sealed values in the database by their key. */
import { HEADER_BYTES, SEAL_MARK, type SealPurpose } from '../core/sealing.ts';
import type { Connection } from '../db/connect.ts';
import { keyIdsIn } from './pending-callbacks.ts';
import { listSealedColumns } from './sealed-columns.ts';

/** `keyId` is null for values from version 0.2, because they do not name their key. */
export type SealedCount = { purpose: SealPurpose; keyId: string | null; count: number };

/**
 * Reads every table with sealed values, which can take a long time. A table that does not exist yet counts as empty.
 */
export async function countByKey(client: Connection): Promise<SealedCount[]> {
  const counts: SealedCount[] = [];
  for (const { table, column, purpose } of listSealedColumns()) {
    if (!(await hasColumn(client, table, column))) continue;
    const { rows } = await client.query<{ keyId: string | null; count: number }>(
      `SELECT CASE WHEN substring(${column} FROM 1 FOR ${SEAL_MARK.length}) = $1
          THEN encode(substring(${column} FROM ${SEAL_MARK.length + 1} FOR ${HEADER_BYTES - SEAL_MARK.length}), 'hex')
        END AS "keyId", count(*)::int AS count
      FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1 ORDER BY 1`,
      [SEAL_MARK],
    );
    counts.push(...rows.map((row) => ({ ...row, purpose })));
  }
  return merge([...counts, ...(await countInCallbacks(client))]);
}

async function countInCallbacks(client: Connection): Promise<SealedCount[]> {
  if (!(await hasColumn(client, 'ingest_events', 'facts'))) return [];
  const { rows } = await client.query<{ facts: unknown }>('SELECT facts FROM ingest_events WHERE applied_at IS NULL');
  const ids = rows.flatMap(({ facts }) => keyIdsIn(facts));
  return ids.map((keyId) => ({ purpose: 'recording link', keyId, count: 1 }));
}

async function hasColumn(client: Connection, table: string, column: string): Promise<boolean> {
  const { rows } = await client.query<object>(
    `SELECT FROM pg_attribute WHERE attrelid = to_regclass('public.' || $1) AND attname = $2`,
    [table, column],
  );
  return rows.length > 0;
}

function merge(counts: readonly SealedCount[]): SealedCount[] {
  const merged = new Map<string, SealedCount>();
  for (const one of counts) {
    const id = `${one.purpose} ${one.keyId}`;
    merged.set(id, { ...one, count: one.count + (merged.get(id)?.count ?? 0) });
  }
  return [...merged.values()];
}
