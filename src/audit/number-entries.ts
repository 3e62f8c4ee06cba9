/**
 * Numbers the entries of the audit logs, and links them into the chains of hashes. Numbering runs outside the
 * transactions that add entries, so that these transactions never wait for one another. An entry gets the next number
 * of its workspace after its transaction has committed. Numbers have no gaps. Only one process at a time numbers
 * entries.
 */
import type { Log } from '../core/log.ts';
import type { Sealer } from '../core/sealing.ts';
import { SAFETY_POLL_MS, SECOND_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { bool, int, json, type RowOf, type Sql, statement } from '../db/statements.ts';
import { type ChainState, fromHex, hashEntry, hashedColumns, hashedFields, toHex } from './chain.ts';
import { lockChains, readChains, writeChains } from './chain-statements.ts';

/**
 * The maximum number of workspaces in a batch, and of entries of each workspace. A busy workspace continues in the next
 * round.
 */
const MAX_WORKSPACES = 50;
const MAX_ENTRIES = 100;

const anyWaiting = statement('find-waiting-audit-entries', {
  params: {},
  returns: { isWaiting: bool },
  sql: 'select exists (select from audit_log where sequence is null) as "isWaiting"',
});

/**
 * The oldest waiting entries of the next workspaces. Skips workspaces that are being deleted and entries that are being
 * erased, so that a long transaction delays no other workspace.
 */
const waitingEntries = statement('take-audit-entries', {
  params: { after: int },
  returns: hashedColumns,
  sql: `
    with recursive waiting as (
      (select workspace_id from audit_log where sequence is null and workspace_id > $after order by 1 limit 1)
      union all
      select (select n.workspace_id from audit_log n where n.sequence is null and n.workspace_id > w.workspace_id
        order by 1 limit 1)
      from waiting w where w.workspace_id is not null),
    present as materialized (
      select id from workspaces
      where id in (select workspace_id from waiting where workspace_id is not null limit ${MAX_WORKSPACES})
      order by id for key share skip locked)
    select ${hashedFields}
    from present p cross join lateral (
      select * from audit_log where workspace_id = p.id and sequence is null
      order by id limit ${MAX_ENTRIES} for no key update skip locked) a
    order by a.workspace_id, a.id`,
});

type Entry = RowOf<typeof waitingEntries>;
type Numbered = { workspaceId: number; id: number; sequence: number; hash: string };

const numberStatement = statement('number-audit-entries', {
  plansAnew: true,
  params: { entries: json<Numbered[]>() },
  sql: `
    update audit_log a set sequence = n.sequence, hash = decode(n.hash, 'hex')
    from jsonb_to_recordset($entries) as n ("workspaceId" int, id bigint, sequence bigint, hash text)
    where a.workspace_id = n."workspaceId" and a.id = n.id`,
});

/**
 * Returns a function that numbers one batch. The function resolves with the delay until the next call, in milliseconds:
 * 0 if more entries may be waiting. If the log of a workspace was tampered with, an error is logged once, and the new
 * entries of the workspace wait.
 */
export function createNumbering(services: { db: Database; sealer: Sealer; log: Log }): () => Promise<number> {
  const { db, sealer, log } = services;
  const reported = new Set<number>();
  // A round goes through all workspaces once.
  let after = 0;
  let hasProgress = false;
  return async () => {
    const [found] = await db.sql.run(anyWaiting, {});
    if (!found?.isWaiting) return SAFETY_POLL_MS;
    const { last, isNumbered, broken } = await db.sql.transact((sql) => numberBatch(sql, sealer, after));
    for (const workspace of broken.filter((id) => !reported.has(id))) {
      reported.add(workspace);
      log.error({ workspace }, 'The audit log of a workspace was tampered with: new entries are not numbered');
    }
    hasProgress ||= isNumbered;
    after = last ?? 0;
    if (last !== null) return 0;
    const delayMs = hasProgress ? 0 : SECOND_MS;
    hasProgress = false;
    return delayMs;
  };
}

type Batch = {
  /** The last workspace of the batch; null if it is empty. */
  last: number | null;
  isNumbered: boolean;
  /** Workspaces whose log was tampered with. */
  broken: number[];
};

/** Numbers the entries of the next workspaces. Does nothing while another process does this. */
async function numberBatch(sql: Sql, sealer: Sealer, after: number): Promise<Batch> {
  const none = { last: null, isNumbered: false, broken: [] };
  if (!(await lockChains(sql))) return none;
  const byWorkspace = Map.groupBy(await sql.run(waitingEntries, { after }), (entry) => entry.workspace_id);
  const workspaceIds = [...byWorkspace.keys()];
  if (workspaceIds.length === 0) return none;
  const numbered: Numbered[] = [];
  const chains: { workspaceId: number; state: ChainState }[] = [];
  const broken: number[] = [];
  for (const { workspaceId, state, highestSequence } of await readChains(sql, sealer, workspaceIds)) {
    // Continuing a chain whose end was changed would hide the change.
    if (state === null || highestSequence > state.lastSequence) broken.push(workspaceId);
    else chains.push({ workspaceId, state: link(state, byWorkspace.get(workspaceId) ?? [], numbered) });
  }
  await sql.run(numberStatement, { entries: numbered });
  await writeChains(sql, sealer, chains);
  return { last: Math.max(...workspaceIds), isNumbered: numbered.length > 0, broken };
}

/** Numbers the entries after the end of a chain, adds them to `numbered`, and returns the new end. */
function link(state: ChainState, entries: readonly Entry[], numbered: Numbered[]): ChainState {
  let { lastSequence } = state;
  let last = fromHex(state.lastHash);
  for (const entry of entries) {
    lastSequence += 1;
    last = new Uint8Array(hashEntry(last, lastSequence, entry));
    numbered.push({ workspaceId: entry.workspace_id, id: entry.id, sequence: lastSequence, hash: toHex(last) });
  }
  return { ...state, lastSequence, lastHash: toHex(last) };
}
