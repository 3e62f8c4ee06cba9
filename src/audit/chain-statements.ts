/** The statements that read and write the ends of the audit logs. */

import type { Sealer } from '../core/sealing.ts';
import {
  bool,
  bytes,
  float,
  int,
  ints,
  json,
  nullable,
  type RowOf,
  type Sql,
  statement,
  text,
} from '../db/statements.ts';
import { type ChainState, openState, sealState, toHex } from './chain.ts';

/** Only one process at a time changes the chains, so they need no locks of their own. */
const LOCK = 'audit log';
/** After this time, PostgreSQL ends the transaction of a frozen process, so that another process can take over. */
const MAX_IDLE_MS = 10_000;

/**
 * Tries to take the lock. Also disables sequential scans in the transaction: a plan that was made while the log was
 * short would not use the indexes.
 */
const lockStatement = statement('lock-audit-chains', {
  params: { lock: text, maxIdleMs: text },
  returns: { isLocked: bool, settings: text },
  sql: `
    select pg_try_advisory_xact_lock(hashtext($lock)) as "isLocked",
      concat(set_config('idle_in_transaction_session_timeout', $maxIdleMs, true),
        set_config('enable_seqscan', 'off', true)) as settings`,
});

/** Whether this transaction may change the chains now. Call it first in the transaction. */
export async function lockChains(sql: Sql): Promise<boolean> {
  const [row] = await sql.run(lockStatement, { lock: LOCK, maxIdleMs: String(MAX_IDLE_MS) });
  return row?.isLocked ?? false;
}

const awaitStatement = statement('await-audit-chains', {
  params: { lock: text },
  returns: { settings: text },
  sql: `
    select set_config('enable_seqscan', 'off', true) as settings from pg_advisory_xact_lock(hashtext($lock))`,
});

/** Like `lockChains`, but waits if another process is changing the chains. */
export async function awaitChains(sql: Sql): Promise<void> {
  await sql.run(awaitStatement, { lock: LOCK });
}

const chainsOf = statement('read-audit-chains', {
  params: { workspaceIds: ints },
  returns: {
    workspaceId: int,
    lastSequence: float,
    lastHash: bytes,
    cutSequence: float,
    cutHash: bytes,
    sealed: nullable(bytes),
    highestSequence: float,
  },
  sql: `
    select i.id as "workspaceId", coalesce(c.last_sequence, 0)::float8 as "lastSequence",
      coalesce(c.last_hash, '') as "lastHash", coalesce(c.cut_sequence, 0)::float8 as "cutSequence",
      coalesce(c.cut_hash, '') as "cutHash", c.sealed,
      coalesce((select max(sequence) from audit_log where workspace_id = i.id), 0)::float8 as "highestSequence"
    from unnest($workspaceIds) as i (id) left join audit_chains c on c.workspace_id = i.id`,
});

/** The end of a log, as stored in the database. */
export type Chain = {
  workspaceId: number;
  /** What is sealed; null if the columns or the seal were tampered with. */
  state: ChainState | null;
  /** The number of the last entry that exists. */
  highestSequence: number;
};

/** Reads the ends of logs. The end and the highest number of a log come from the same snapshot. */
export async function readChains(sql: Sql, sealer: Sealer, workspaceIds: readonly number[]): Promise<Chain[]> {
  const rows = await sql.run(chainsOf, { workspaceIds });
  return rows.map((row) => {
    const { workspaceId, highestSequence } = row;
    return { workspaceId, highestSequence, state: toState(sealer, row) };
  });
}

function toState(sealer: Sealer, { workspaceId, sealed, ...row }: RowOf<typeof chainsOf>): ChainState | null {
  const { lastSequence, cutSequence } = row;
  const state = { lastSequence, lastHash: toHex(row.lastHash), cutSequence, cutHash: toHex(row.cutHash) };
  if (sealed === null) return row.highestSequence === 0 ? state : null;
  const opened = openState(sealer, workspaceId, sealed);
  return opened !== null && isSame(opened, state) ? opened : null;
}

function isSame(a: ChainState, b: ChainState): boolean {
  return (
    a.lastSequence === b.lastSequence &&
    a.lastHash === b.lastHash &&
    a.cutSequence === b.cutSequence &&
    a.cutHash === b.cutHash
  );
}

type StoredChain = { workspaceId: number; sealed: string } & ChainState;

const storeChains = statement('store-audit-chains', {
  params: { chains: json<StoredChain[]>() },
  sql: `
    insert into audit_chains as c (workspace_id, last_sequence, last_hash, cut_sequence, cut_hash, sealed)
    select n."workspaceId", n."lastSequence", decode(n."lastHash", 'hex'), n."cutSequence", decode(n."cutHash", 'hex'),
      decode(n.sealed, 'hex')
    from jsonb_to_recordset($chains) as n ("workspaceId" int, "lastSequence" bigint, "lastHash" text,
      "cutSequence" bigint, "cutHash" text, sealed text)
    on conflict (workspace_id) do update set last_sequence = excluded.last_sequence, last_hash = excluded.last_hash,
      cut_sequence = excluded.cut_sequence, cut_hash = excluded.cut_hash, sealed = excluded.sealed`,
});

/** Stores the new ends of logs, sealed. */
export async function writeChains(
  sql: Sql,
  sealer: Sealer,
  chains: readonly { workspaceId: number; state: ChainState }[],
): Promise<void> {
  await sql.run(storeChains, {
    chains: chains.map(({ workspaceId, state }) => {
      return { workspaceId, ...state, sealed: toHex(sealState(sealer, workspaceId, state)) };
    }),
  });
}
