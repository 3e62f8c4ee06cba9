import { type AuditActor, recordAudit } from '../../audit/record-audit.ts';
import { NO_INVITE } from '../../auth/invite-token.ts';
import type { LockedWorkspace } from '../../auth/workspace-lock.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, statement, text, time } from '../../db/statements.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { reassignBookingPages } from '../booking-pages/reassign-booking-pages.ts';
import { reassignRooms } from '../rooms/reassign-rooms.ts';
import { barRemoved } from './removed-members.ts';
import { revokeInvitationsOf } from './revoke-invitations.ts';

type Departure = {
  userId: number;
  reason: 'left' | 'removed' | 'account_deleted';
  at: Date;
  /** Who ended the membership. */
  actor: AuditActor;
};

const deleteMember = statement('delete-member', {
  params: { workspaceId: int, userId: int },
  returns: { name: text, role: text },
  sql: `
    delete from members m using users u
    where m.workspace_id = $workspaceId and m.user_id = $userId and u.id = m.user_id returning u.name, m.role`,
});

/** Revokes the keys that act for the user. Those of the workspace stay as they are and pass to the owner. */
const endKeys = statement('end-api-keys-of-member', {
  params: { workspaceId: int, userId: int, ownerId: int, at: time },
  returns: { isOfWorkspace: bool, works: bool },
  sql: `
    update api_keys
    set is_active = is_active and is_of_workspace,
      revoked_at = case when is_of_workspace then revoked_at else $at end,
      created_by = case when is_of_workspace then $ownerId else created_by end
    where workspace_id = $workspaceId and created_by = $userId and (is_of_workspace or revoked_at is null)
    returning is_of_workspace as "isOfWorkspace",
      is_active and (expires_at is null or expires_at > $at) as works`,
});

/**
 * Ends the membership of a user other than the owner, and emits `member.left`. The user's rooms and booking pages in
 * the workspace pass to the owner. API keys that act for the user, and invitations that the user sent, are revoked. If
 * another member removed the user, the invite link and an invitation to the user's address are also revoked, and the
 * domain of that address no longer lets the user in, so that the user cannot come back. Does nothing if the user is not
 * a member. The workspace must be locked.
 *
 * Returns the number of API keys that belong to the workspace and were created by the user: these still work.
 */
export async function endMembership(
  services: Pick<Services, 'sealer' | 'clock'>,
  tx: Tx,
  workspace: Pick<LockedWorkspace, 'id' | 'name' | 'owner_id'>,
  { userId, reason, at, actor }: Departure,
): Promise<number> {
  const key = { workspaceId: workspace.id, userId };
  const [user] = await sqlIn(tx).run(deleteMember, key);
  if (!user) return 0;
  await reassignRooms(tx, workspace.id, userId, workspace.owner_id);
  const pages = { workspaceId: workspace.id, leavingUserId: userId, ownerId: workspace.owner_id, at };
  await reassignBookingPages(services, tx, pages);
  const keys = await sqlIn(tx).run(endKeys, { ...key, ownerId: workspace.owner_id, at });
  const revoked = keys.filter(({ isOfWorkspace }) => !isOfWorkspace).length;
  const remaining = keys.filter(({ works }) => works).length;
  const isRemoved = reason === 'removed';
  if (isRemoved) {
    await tx.workspace.updateMany({ where: { id: workspace.id }, data: NO_INVITE });
    await barRemoved(tx, key, at);
  }
  await recordAudit(tx, {
    workspaceId: workspace.id,
    at,
    actor,
    action: isRemoved ? 'member.removed' : 'member.left',
    target: { kind: 'member', id: userId, name: user.name },
    before: { role: user.role },
    after: { reason, revoked_api_keys: revoked, remaining_workspace_keys: remaining },
  });
  await revokeInvitationsOf(tx, { workspaceId: workspace.id, userId, includesOwn: isRemoved }, actor, at);
  await emit(sqlIn(tx), at, {
    type: 'member.left',
    workspaceId: workspace.id,
    data: {
      workspace_id: workspace.id,
      workspace_name: workspace.name,
      user_id: userId,
      user_name: user.name,
      reason,
    },
  });
  return remaining;
}
