import { recordAccountEvent } from '../../audit/account-events.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Caller } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { conflict, notFound, unauthorized } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, int, oneOf, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { Client } from '../auth/sessions.ts';
import { confirmEmail } from '../auth/verify-email.ts';
import { addMember } from '../members/add-member.ts';
import { toWorkspace, workspaceColumns } from '../workspaces/present.ts';
import type { Workspace } from '../workspaces/schemas.ts';
import { findInvitation } from './read-invitations.ts';
import type { InvitationTokenInput, InvitedRole } from './schemas.ts';

/** If several concurrent calls have the same token, only one updates the row. */
const takeInvitation = statement('take-invitation', {
  params: { workspaceId: int, invitationId: int, tokenHash: bytes, userId: int, now: time },
  returns: { role: oneOf<InvitedRole>() },
  sql: `
    update invitations set state = 'accepted', token_hash = null, accepted_by = $userId, ended_at = $now
    where workspace_id = $workspaceId and id = $invitationId and token_hash = $tokenHash
    returning role`,
});

/** The caller, and the client that made the call. */
type AcceptCall = { caller: Caller; client: Client };

/**
 * Makes the caller a member with the role of the invitation, and emits `member.joined`. The caller's address can differ
 * from the invited address. If it is the same, it counts as confirmed, because only the mail contains the link. Throws
 * 404 "Invitation not found" if the invitation was used or revoked, and 409 if it has expired, if the caller is already
 * a member, or if the workspace has reached its quota. A 409 does not use up the link.
 */
export async function acceptInvitation(
  services: Pick<Services, 'db' | 'clock' | 'settings'>,
  { caller, client }: AcceptCall,
  { token }: InvitationTokenInput,
): Promise<Workspace> {
  const { db, clock } = services;
  const { userId } = caller;
  try {
    return await transact(db, async (tx) => {
      const sql = sqlIn(tx);
      const { id: invitationId, workspace_id: workspaceId, email, expires_at } = await findInvitation(sql, token);
      const now = clock.now();
      if (expires_at <= now) throw conflict('The invitation has expired: ask for a new one');
      await lockForJoining(tx, workspaceId);
      const taken = { workspaceId, invitationId, tokenHash: hashToken(token), userId, now };
      const [invitation] = await sql.run(takeInvitation, taken);
      if (!invitation) throw notFound('Invitation');
      const { role } = invitation;
      const workspace = await tx.workspace.findUniqueOrThrow({ where: { id: workspaceId }, select: workspaceColumns });
      if (!(await addMember(services, tx, workspace, caller, { role, by: 'invitation' })))
        throw conflict('You are already a member of this workspace');
      await recordAudit(tx, {
        workspaceId,
        at: now,
        actor: auditActorOf(caller),
        action: 'invitation.accepted',
        target: { kind: 'invitation', id: invitationId },
      });
      if (email === caller.email && !caller.emailVerified && (await confirmEmail(tx, { userId, email, at: now })))
        await recordAccountEvent(tx, { userId, at: now, action: 'email_verified', ...client });
      return toWorkspace(workspace, role);
    });
  } catch (error) {
    // The caller's account has been deleted.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}

const lockStatement = statement('lock-workspace-for-joining', {
  params: { workspaceId: int },
  returns: { id: int },
  sql: 'select id from workspaces where id = $workspaceId for share',
});

/**
 * Locks the workspace. Until the transaction ends, it cannot be deleted, and its owner and admins cannot be removed or
 * demoted.
 */
async function lockForJoining(tx: Tx, workspaceId: number): Promise<void> {
  const rows = await sqlIn(tx).run(lockStatement, { workspaceId });
  if (rows.length === 0) throw notFound('Invitation');
}
