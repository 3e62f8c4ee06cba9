/** Writes the audit log of a workspace. */
import type { Tx } from '../db/client.ts';
import { sqlIn } from '../db/sql.ts';
import { json, type Sql, statement } from '../db/statements.ts';
import type { AuditAction, auditActions } from './actions.ts';

/** The person, key or service that acts. The name and the address are personal fields, which can be erased later. */
export type AuditActor =
  /** `via` is set if an app acts that the person has connected. */
  | { kind: 'user'; userId: number; name: string; address: string | null; via?: 'mcp' }
  /** `userId` is the person for whom the key acts; null if it acts for the workspace. */
  | { kind: 'key'; keyId: number; userId: number | null; name: string; address: string | null; via?: 'mcp' }
  /** Who was let into a room with the rights of a host. Their name stays with the visit, where it can be erased. */
  | { kind: 'participant'; participantId: number }
  | { kind: 'system' };

export type NewAuditEntry = {
  [Target in keyof typeof auditActions]: {
    workspaceId: number;
    at: Date;
    actor: AuditActor;
    action: (typeof auditActions)[Target][number];
    /** The changed resource. `id` is null for a target without an ID, and for several targets. */
    target: { kind: Target; id: number | null; name?: string | null };
    /** The changed fields, where they help to understand the change. Never a secret. */
    before?: Readonly<Record<string, unknown>>;
    after?: Readonly<Record<string, unknown>>;
  };
}[keyof typeof auditActions];

/** An entry in the form that the statements insert. */
type AuditRow = ReturnType<typeof toActorColumns> & {
  workspace_id: number;
  created_at: Date;
  action: AuditAction;
  target_kind: string;
  target_id: number | null;
  details: string;
};

const insertEntries = statement('insert-audit-entries', {
  params: { entries: json<AuditRow[]>() },
  sql: `
    insert into audit_log (workspace_id, created_at, actor_kind, actor_user_id, actor_key_id, action, target_kind,
      target_id, actor_details, details)
    select * from jsonb_to_recordset($entries) as e (workspace_id int, created_at timestamptz, actor_kind text,
      actor_user_id int, actor_key_id int, action text, target_kind text, target_id int,
      actor_details text, details text)`,
});

/**
 * Adds an entry to the audit log, in the transaction of the change, so that both are committed or neither is. It gets
 * its number and its place in the chain of hashes after the commit (`number-entries.ts`).
 */
export function recordAudit(tx: Tx, entry: NewAuditEntry): Promise<void> {
  return recordAudits(sqlIn(tx), [entry]);
}

/** Adds several entries, like `recordAudit`. */
export async function recordAudits(sql: Sql, entries: readonly NewAuditEntry[]): Promise<void> {
  if (entries.length > 0) await sql.run(insertEntries, { entries: entries.map(toAuditRow) });
}

function toAuditRow({ workspaceId, at, actor, action, target, before, after }: NewAuditEntry): AuditRow {
  return {
    workspace_id: workspaceId,
    created_at: at,
    ...toActorColumns(actor),
    action,
    target_kind: target.kind,
    target_id: target.id,
    details: JSON.stringify({
      ...(target.name != null && { name: target.name }),
      ...(before && { before }),
      ...(after && { after }),
    }),
  };
}

export function toActorColumns(actor: AuditActor) {
  const { kind } = actor;
  return {
    actor_kind: kind,
    actor_user_id: 'userId' in actor ? actor.userId : null,
    actor_key_id: 'keyId' in actor ? actor.keyId : null,
    actor_details: JSON.stringify(toActorDetails(actor)),
  };
}

function toActorDetails(actor: AuditActor): object {
  if (actor.kind === 'system') return {};
  if (actor.kind === 'participant') return { participant_id: actor.participantId };
  const { name, address } = actor;
  return { name, ...(address !== null && { address }), ...('via' in actor && { via: actor.via }) };
}
