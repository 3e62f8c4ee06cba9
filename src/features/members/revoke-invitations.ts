import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import type { AuditActor } from '../../audit/record-audit.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, statement, text } from '../../db/statements.ts';
import { dropInvitationMails } from '../../mail/drop-mails.ts';

const revokeStatement = statement('revoke-invitations-of-member', {
  params: { workspaceId: int, userId: int, includesOwn: bool, ...auditParams },
  returns: { email: text },
  sql: `
    with revoked as (
      update invitations set state = 'revoked', token_hash = null, ended_at = $auditedAt
      where workspace_id = $workspaceId and state = 'pending'
        and (invited_by = $userId or ($includesOwn and email = (select email from users where id = $userId)))
      returning id, email),
    audited as (${insertAuditFrom('revoked', {
      target: 'invitation',
      action: 'invitation.revoked',
      targetId: 'id',
      details: "'{}'::json",
    })})
    select email from revoked`,
});

/**
 * Revokes the invitations that a user has sent. Call it when the user may no longer invite people. With `includesOwn`,
 * also revokes an invitation to the user's own address, so that they cannot come back. Mail that waits is not sent. The
 * workspace must be locked.
 */
export async function revokeInvitationsOf(
  tx: Tx,
  { workspaceId, userId, includesOwn }: { workspaceId: number; userId: number; includesOwn: boolean },
  actor: AuditActor,
  at: Date,
): Promise<void> {
  const params = { workspaceId, userId, includesOwn, ...toAuditParams(actor, at) };
  const revoked = await sqlIn(tx).run(revokeStatement, params);
  await dropInvitationMails(sqlIn(tx), { workspaceId, addresses: revoked.map(({ email }) => email), now: at });
}
