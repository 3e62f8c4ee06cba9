import type { Sealer } from '../core/sealing.ts';
import type { Database } from '../db/client.ts';
import type { ChainState } from './chain.ts';
import { readChains } from './chain-statements.ts';
import { checkEntries, PAGE_SIZE, type Position, type Problem, readEntries } from './check-entries.ts';

/** How many entries one call checks. */
export const MAX_CHECKED = 10_000;
/** How many problems are listed. One change in the middle causes at most two. */
const MAX_PROBLEMS = 100;

export type Verification = {
  /** The first and last entry that were checked; the first is higher than the last if there were none. */
  from: number;
  to: Position;
  /** The number of the last pruned entry; 0 if none was pruned. */
  cutSequence: number;
  /** The number of the last entry of the log. */
  lastSequence: number;
  problems: Problem[];
};

/**
 * Checks the log of a workspace from `from` on, or from its beginning: that the hash of each entry matches the entry
 * and the hash before it, that no number is missing, and that the log begins and ends where the sealed state says.
 * Checks at most `MAX_CHECKED` entries; the next call continues at `to`.
 */
export async function verifyLog(
  { db, sealer }: { db: Database; sealer: Sealer },
  workspaceId: number,
  from: Position | null,
): Promise<Verification> {
  for (;;) {
    const chain = await readChain(db, sealer, workspaceId);
    const checked = await checkFrom(db, workspaceId, chain, from);
    if (checked.problems.length === 0) return checked;
    // Entries that are pruned during the check look as if they were missing.
    const { state } = await readChain(db, sealer, workspaceId);
    if (state === null || state.cutSequence === checked.cutSequence) return checked;
  }
}

type Chain = { state: ChainState | null; highestSequence: number };

async function readChain(db: Database, sealer: Sealer, workspaceId: number): Promise<Chain> {
  const [chain] = await readChains(db.sql, sealer, [workspaceId]);
  return chain ?? { state: null, highestSequence: 0 };
}

async function checkFrom(
  db: Database,
  workspaceId: number,
  { state, highestSequence }: Chain,
  from: Position | null,
): Promise<Verification> {
  if (state === null) {
    const to = { sequence: 0, hash: '' };
    return {
      from: 1,
      to,
      cutSequence: 0,
      lastSequence: 0,
      problems: [{ sequence: highestSequence, problem: 'end changed' }],
    };
  }
  const { cutSequence, cutHash, lastSequence, lastHash } = state;
  const start = from !== null && from.sequence > cutSequence ? from : { sequence: cutSequence, hash: cutHash };
  const problems: Problem[] = [];
  let to = start;
  let isEnd = false;
  while (!isEnd && to.sequence - start.sequence < MAX_CHECKED && problems.length < MAX_PROBLEMS) {
    const entries = await readEntries(db.sql, workspaceId, { after: to.sequence, last: lastSequence });
    to = checkEntries(to, entries, problems);
    isEnd = entries.length < PAGE_SIZE;
  }
  if (isEnd && to.sequence < lastSequence) problems.push({ sequence: to.sequence + 1, problem: 'missing' });
  else if (isEnd && to.hash !== lastHash) problems.push({ sequence: to.sequence, problem: 'end changed' });
  if (highestSequence > lastSequence) problems.push({ sequence: lastSequence + 1, problem: 'beyond the end' });
  return { from: start.sequence + 1, to, cutSequence, lastSequence, problems: problems.slice(0, MAX_PROBLEMS) };
}
