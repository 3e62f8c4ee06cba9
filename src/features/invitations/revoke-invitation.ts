import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, text } from '../../db/statements.ts';
import { dropInvitationMails } from '../../mail/drop-mails.ts';
import type { Services } from '../../services.ts';
import { refuseChange } from './read-invitations.ts';
import type { InvitationInput } from './schemas.ts';

const revokeStatement = statement('revoke-invitation', {
  params: { workspaceId: int, invitationId: int, ...auditParams },
  returns: { email: text },
  sql: `
    with revoked as (
      update invitations set state = 'revoked', token_hash = null, ended_at = $auditedAt
      where workspace_id = $workspaceId and id = $invitationId and state = 'pending'
      returning id, email, role),
    audited as (
      ${insertAuditFrom('revoked', {
        target: 'invitation',
        action: 'invitation.revoked',
        targetId: 'id',
        details: "json_build_object('before', json_build_object('role', role))",
      })})
    select email from revoked`,
});

/**
 * Revokes a pending or expired invitation. Mail that waits is not sent. Throws 404 "Invitation not found", and 409 if
 * it was already accepted or revoked.
 */
export function revokeInvitation(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { invitationId }: InvitationInput,
): Promise<{ ok: true }> {
  const { workspaceId } = actor;
  return transact(db, async (tx) => {
    const sql = sqlIn(tx);
    const now = clock.now();
    const audit = toAuditParams(auditActorOf(actor), now);
    const [revoked] = await sql.run(revokeStatement, { workspaceId, invitationId, ...audit });
    if (!revoked) return refuseChange(sql, workspaceId, { invitationId });
    await dropInvitationMails(sql, { workspaceId, addresses: [revoked.email], now });
    return { ok: true };
  });
}
