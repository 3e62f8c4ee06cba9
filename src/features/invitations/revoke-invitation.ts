import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { int, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { refuseChange } from './read-invitations.ts';
import type { InvitationInput } from './schemas.ts';

const revokeStatement = statement('revoke-invitation', {
  params: { workspaceId: int, invitationId: int, ...auditParams },
  returns: { id: int },
  sql: `
    with revoked as (
      update invitations set state = 'revoked', token_hash = null, ended_at = $auditedAt
      where workspace_id = $workspaceId and id = $invitationId and state = 'pending'
      returning id, role),
    audited as (
      ${insertAuditFrom('revoked', {
        target: 'invitation',
        action: 'invitation.revoked',
        targetId: 'id',
        details: "json_build_object('before', json_build_object('role', role))",
      })})
    select id from revoked`,
});

/**
 * Revokes a pending or expired invitation. Throws 404 "Invitation not found", and 409 if it was already accepted or
 * revoked.
 */
export async function revokeInvitation(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { invitationId }: InvitationInput,
): Promise<{ ok: true }> {
  const { workspaceId } = actor;
  const audit = toAuditParams(auditActorOf(actor), clock.now());
  const [revoked] = await db.sql.run(revokeStatement, { workspaceId, invitationId, ...audit });
  if (!revoked) await refuseChange(db.sql, workspaceId, { invitationId });
  return { ok: true };
}
