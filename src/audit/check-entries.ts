/** Checks entries of an audit log against the chain of hashes. */
import { createHash } from 'node:crypto';
import { bytes, float, int, nullable, type RowOf, type Sql, statement, text } from '../db/statements.ts';
import { fromHex, hashEntry, hashedColumns, hashedFields, toHex } from './chain.ts';

/** Entries per statement. */
export const PAGE_SIZE = 1_000;

export const chainProblems = [
  'missing',
  'changed',
  'personal fields changed',
  'end changed',
  'beyond the end',
] as const;

export type Problem = { sequence: number; problem: (typeof chainProblems)[number] };

/** A position in a log: the last entry that was checked, and its hash. */
export type Position = { sequence: number; hash: string };

const numberedEntries = statement('read-audit-chain', {
  params: { workspaceId: int, after: float, last: float, max: int },
  returns: {
    ...hashedColumns,
    sequence: float,
    hash: bytes,
    actor_details: nullable(text),
    actor_salt: nullable(bytes),
    details: nullable(text),
    details_salt: nullable(bytes),
  },
  sql: `
    select ${hashedFields}, a.sequence::float8 as sequence, a.hash, a.actor_details, a.actor_salt, a.details,
      a.details_salt
    from audit_log a
    where a.workspace_id = $workspaceId and a.sequence > $after::bigint and a.sequence <= $last::bigint
    order by a.sequence limit $max`,
});

export type NumberedEntry = RowOf<typeof numberedEntries>;

/** Reads the next numbered entries, up to `last`. */
export function readEntries(
  sql: Sql,
  workspaceId: number,
  range: { after: number; last: number; max?: number },
): Promise<NumberedEntry[]> {
  return sql.run(numberedEntries, { workspaceId, max: PAGE_SIZE, ...range });
}

/**
 * Checks that the entries follow `from` without a gap, and that neither they nor their personal fields were changed.
 * Adds what is wrong to `problems`. Returns the position of the last entry.
 */
export function checkEntries(from: Position, entries: readonly NumberedEntry[], problems: Problem[]): Position {
  let { sequence, hash } = from;
  for (const entry of entries) {
    const isNext = entry.sequence === sequence + 1;
    if (!isNext) problems.push({ sequence: sequence + 1, problem: 'missing' });
    const found = toHex(entry.hash);
    // After a gap, the hash of the previous entry is unknown.
    if (isNext && toHex(hashEntry(fromHex(hash), entry.sequence, entry)) !== found)
      problems.push({ sequence: entry.sequence, problem: 'changed' });
    if (!arePersonalFieldsRight(entry)) problems.push({ sequence: entry.sequence, problem: 'personal fields changed' });
    ({ sequence } = entry);
    hash = found;
  }
  return { sequence, hash };
}

/** Personal fields are either erased or match their hash. */
function arePersonalFieldsRight(entry: NumberedEntry): boolean {
  return (
    isRight(entry.actor_details, entry.actor_salt, entry.actor_hash) &&
    isRight(entry.details, entry.details_salt, entry.details_hash)
  );
}

function isRight(details: string | null, salt: Uint8Array | null, hash: Uint8Array): boolean {
  if (details === null || salt === null) return details === null && salt === null;
  return createHash('sha256').update(salt).update(details).digest().equals(hash);
}
