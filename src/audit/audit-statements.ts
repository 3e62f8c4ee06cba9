/** For frequent changes: parts of a statement that makes a change and also records it in the audit log. */
import { int, nullable, text, time } from '../db/statements.ts';
import type { auditActions } from './actions.ts';
import { type AuditActor, toActorColumns } from './record-audit.ts';

/** The parameters that `insertAuditFrom` needs. */
export const auditParams = {
  auditedAt: time,
  actorKind: text,
  actorUserId: nullable(int),
  actorKeyId: nullable(int),
  actorDetails: text,
} as const;

/** The values of `auditParams`. */
export function toAuditParams(actor: AuditActor, auditedAt: Date) {
  const { actor_kind, actor_user_id, actor_key_id, actor_details } = toActorColumns(actor);
  return {
    auditedAt,
    actorKind: actor_kind,
    actorUserId: actor_user_id,
    actorKeyId: actor_key_id,
    actorDetails: actor_details,
  };
}

/**
 * SQL that inserts an entry for each row of `source`, which is the name of a CTE of the statement, or a join.
 * `targetId` and `details` are expressions; `details` is JSON with the optional fields `name`, `before` and `after`.
 * The workspace is the parameter `workspaceId`.
 */
export function insertAuditFrom<Target extends keyof typeof auditActions>(
  source: string,
  {
    target,
    action,
    targetId,
    details,
  }: { target: Target; action: (typeof auditActions)[Target][number]; targetId: string; details: string },
): string {
  return `
    insert into audit_log (workspace_id, created_at, actor_kind, actor_user_id, actor_key_id, action, target_kind,
      target_id, actor_details, details)
    select $workspaceId, $auditedAt, $actorKind, $actorUserId, $actorKeyId, '${action}', '${target}',
      ${targetId}, $actorDetails, (${details})::text from ${source}`;
}
