/** The chain of hashes of an audit log: each entry's hash covers the entry and the hash of the previous one. */
import { createHash } from 'node:crypto';
import type { Sealer } from '../core/sealing.ts';
import { bytes, float, int, nullable, type SqlType, text, time } from '../db/statements.ts';

/** The columns that the hash of an entry covers. Personal fields are covered by their salted hashes. */
export const hashedColumns = {
  workspace_id: int,
  id: float,
  created_at: time,
  actor_kind: text,
  actor_user_id: nullable(int),
  actor_key_id: nullable(int),
  action: text,
  target_kind: text,
  target_id: nullable(int),
  actor_hash: bytes,
  details_hash: bytes,
} as const;

/** SQL for `hashedColumns`, of the table `a`. */
export const hashedFields = `a.workspace_id, a.id::float8 as id, a.created_at, a.actor_kind, a.actor_user_id,
      a.actor_key_id, a.action, a.target_kind, a.target_id, a.actor_hash, a.details_hash`;

export type HashedEntry = {
  [Name in keyof typeof hashedColumns]: (typeof hashedColumns)[Name] extends SqlType<infer Value> ? Value : never;
};

/** The version of the format, which is part of what is hashed. */
const FORMAT = 1;

/**
 * Returns the SHA-256 of the previous entry's hash and the entry as a JSON array, in this order. docs/audit-log.md
 * explains how others can recompute it.
 */
export function hashEntry(previous: Uint8Array, sequence: number, entry: HashedEntry): Buffer {
  const fields = [
    FORMAT,
    entry.workspace_id,
    sequence,
    entry.id,
    entry.created_at.toISOString(),
    entry.actor_kind,
    entry.actor_user_id,
    entry.actor_key_id,
    // Earlier versions reserved this position for a meeting-provider connection as the actor. It was always null.
    null,
    entry.action,
    entry.target_kind,
    entry.target_id,
    toHex(entry.actor_hash),
    toHex(entry.details_hash),
  ];
  return createHash('sha256').update(previous).update(JSON.stringify(fields)).digest();
}

/** The end and the cut-off of a log. Without entries, sequences are 0 and hashes empty. */
export type ChainState = { lastSequence: number; lastHash: string; cutSequence: number; cutHash: string };

export const EMPTY_CHAIN: ChainState = { lastSequence: 0, lastHash: '', cutSequence: 0, cutHash: '' };

/** Seals the state, so that only holders of ENCRYPTION_KEY can set the end and the cut-off of a log. */
export function sealState(sealer: Sealer, workspaceId: number, state: ChainState): Uint8Array<ArrayBuffer> {
  const { lastSequence, lastHash, cutSequence, cutHash } = state;
  const values = [lastSequence, lastHash, cutSequence, cutHash];
  return sealer.seal(JSON.stringify(values), { workspaceId, purpose: 'audit chain' });
}

/** Opens a sealed state. Returns null if it was not sealed by this service for this workspace. */
export function openState(sealer: Sealer, workspaceId: number, sealed: Uint8Array): ChainState | null {
  try {
    const opened = sealer.open(sealed, { workspaceId, purpose: 'audit chain' });
    const [lastSequence, lastHash, cutSequence, cutHash] = JSON.parse(opened);
    return { lastSequence, lastHash, cutSequence, cutHash };
  } catch {
    return null;
  }
}

export function toHex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

export function fromHex(hash: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(hash, 'hex'));
}
