import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import type { AuditActor } from '../../audit/record-audit.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, statement } from '../../db/statements.ts';

const revokeStatement = statement('revoke-invitations-of-member', {
  params: { workspaceId: int, userId: int, includesOwn: bool, ...auditParams },
  sql: `
    with revoked as (
      update invitations set state = 'revoked', token_hash = null, ended_at = $auditedAt
      where workspace_id = $workspaceId and state = 'pending'
        and (invited_by = $userId or ($includesOwn and email = (select email from users where id = $userId)))
      returning id)
    ${insertAuditFrom('revoked', {
      target: 'invitation',
      action: 'invitation.revoked',
      targetId: 'id',
      details: "'{}'::json",
    })}`,
});

/**
 * Revokes the invitations that a user has sent. Call it when the user may no longer invite people. With `includesOwn`,
 * also revokes an invitation to the user's own address, so that they cannot come back. The workspace must be locked.
 */
export async function revokeInvitationsOf(
  tx: Tx,
  { workspaceId, userId, includesOwn }: { workspaceId: number; userId: number; includesOwn: boolean },
  actor: AuditActor,
  at: Date,
): Promise<void> {
  await sqlIn(tx).run(revokeStatement, { workspaceId, userId, includesOwn, ...toAuditParams(actor, at) });
}
