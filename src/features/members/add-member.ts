import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Caller } from '../../auth/identify.ts';
import type { Role } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { emit } from '../../events/emit.ts';
import { requireFreeRow } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { readmit } from './removed-members.ts';

/** How a user joins, and the role that they get. */
type Joining = { role: Exclude<Role, 'owner'>; by: 'invite_link' | 'invitation' | 'domain' };

/**
 * Adds the caller to a workspace and emits `member.joined`. If the caller is already a member, changes nothing and
 * returns false. Whoever was removed before and has been invited is as any other member. Throws 409 if the workspace
 * has reached its quota. The workspace must be locked, at least `for share`.
 */
export async function addMember(
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  tx: Tx,
  workspace: { id: number; name: string },
  caller: Caller,
  { role, by }: Joining,
): Promise<boolean> {
  const { userId, name } = caller;
  const joinedAt = clock.now();
  const { count } = await tx.member.createMany({
    data: { workspaceId: workspace.id, userId, role, joinedAt },
    skipDuplicates: true,
  });
  if (count === 0) return false;
  if (by !== 'domain') await readmit(tx, { workspaceId: workspace.id, userId });
  // The count includes the new member.
  await requireFreeRow(tx, settings.quotas, 'members', workspace.id, 0);
  await emit(sqlIn(tx), joinedAt, {
    type: 'member.joined',
    workspaceId: workspace.id,
    data: {
      workspace_id: workspace.id,
      workspace_name: workspace.name,
      user_id: userId,
      user_name: name,
      role,
      joined_at: toUnixSeconds(joinedAt),
    },
  });
  await recordAudit(tx, {
    workspaceId: workspace.id,
    at: joinedAt,
    actor: auditActorOf(caller),
    action: 'member.joined',
    target: { kind: 'member', id: userId, name },
    after: { role, by },
  });
  return true;
}
