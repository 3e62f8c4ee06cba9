import type { AuditAction, AuditActorKind, AuditTarget } from '../../audit/actions.ts';
import { secondsOf } from '../../db/columns.ts';
import { float, int, nullable, oneOf, text } from '../../db/statements.ts';
import type { AuditEntry } from './schemas.ts';

/** The columns of the table `a` that `toAuditEntry` needs. */
export const entryFields = {
  id: float,
  sequence: nullable(float),
  created_at: float,
  actor_kind: oneOf<AuditActorKind>(),
  actor_user_id: nullable(int),
  actor_key_id: nullable(int),
  action: oneOf<AuditAction>(),
  target_kind: oneOf<AuditTarget>(),
  target_id: nullable(int),
  actor_details: nullable(text),
  details: nullable(text),
  hash: nullable(text),
} as const;
export const entryColumns = `a.id::float8 as id, a.sequence::float8 as sequence,
      ${secondsOf('a.created_at')} as created_at, a.actor_kind, a.actor_user_id, a.actor_key_id,
      a.action, a.target_kind, a.target_id, a.actor_details, a.details, encode(a.hash, 'hex') as hash`;

export type EntryRow = {
  id: number;
  sequence: number | null;
  created_at: number;
  actor_kind: AuditActorKind;
  actor_user_id: number | null;
  actor_key_id: number | null;
  action: AuditAction;
  target_kind: AuditTarget;
  target_id: number | null;
  actor_details: string | null;
  details: string | null;
  hash: string | null;
};

type ActorDetails = { name?: string; address?: string; via?: 'mcp'; participant_id?: number };
type Details = { name?: string | null; before?: Record<string, unknown>; after?: Record<string, unknown> };

/** Returns the public shape of an entry. Erased fields are null. */
export function toAuditEntry(row: EntryRow): AuditEntry {
  const actor: ActorDetails = JSON.parse(row.actor_details ?? '{}');
  const details: Details = JSON.parse(row.details ?? '{}');
  return {
    id: row.id,
    sequence: row.sequence,
    created_at: row.created_at,
    actor: {
      kind: row.actor_kind,
      user_id: row.actor_user_id,
      key_id: row.actor_key_id,
      participant_id: actor.participant_id ?? null,
      name: actor.name ?? null,
      address: actor.address ?? null,
      via: actor.via ?? null,
    },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id, name: details.name ?? null },
    before: details.before ?? null,
    after: details.after ?? null,
    is_erased: row.actor_details === null || row.details === null ? 1 : 0,
    hash: row.hash,
  };
}
