/**
 * Changes roles and removes members. A workspace always has exactly one owner. Every change to a membership locks the
 * workspace and then reads both roles, so concurrent changes cannot break this rule.
 */
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { badRequest, forbidden, notFound } from '../../core/errors.ts';
import { mayChangeRole, mayRemove, type Role, toRole } from '../../core/roles.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import { endMembership } from './end-membership.ts';
import { memberColumns, toMember } from './present.ts';
import { revokeInvitationsOf } from './revoke-invitations.ts';
import type { ChangeRoleInput, Member, MemberInput, RemovedMember } from './schemas.ts';

/**
 * Changes the role of a member. The role `owner` transfers the workspace, and the old owner becomes an admin. If an
 * admin is demoted, the invitations that they sent are revoked. Throws 403 or 404 "Member not found", and throws 400 if
 * the change would transfer the Personal workspace or if an owner tries to demote themselves.
 */
export async function changeRole(
  services: Pick<Services, 'db' | 'clock' | 'sealer'>,
  actor: Actor,
  { userId, role }: ChangeRoleInput,
): Promise<Member> {
  const { db, clock } = services;
  return transact(db, async (tx) => {
    const workspace = await lockWorkspace(tx, actor.workspaceId);
    const { actorRole, targetRole } = await readCurrentRoles(tx, actor, userId);
    if (!mayChangeRole(actorRole, targetRole, role)) throw forbidden();
    if (targetRole === 'owner' && role !== 'owner')
      throw badRequest('A workspace must have an owner: make another member the owner instead');
    if (role === 'owner' && targetRole !== 'owner') {
      if (workspace.is_personal) throw badRequest('The Personal workspace cannot be transferred');
      await setRole(tx, workspace.id, actor.userId, 'admin');
      await tx.workspace.update({ where: { id: workspace.id }, data: { ownerId: userId } });
    }
    if (role !== targetRole) await setRole(tx, workspace.id, userId, role);
    const at = clock.now();
    const auditActor = auditActorOf(actor);
    if (role === 'member' && role !== targetRole)
      await revokeInvitationsOf(tx, { workspaceId: workspace.id, userId, includesOwn: false }, auditActor, at);
    const member = await tx.member.findUniqueOrThrow({
      where: { workspaceId_userId: { workspaceId: workspace.id, userId } },
      select: memberColumns,
    });
    const entry = { workspaceId: workspace.id, at, actor: auditActor };
    if (role === 'owner' && targetRole !== 'owner') {
      await recordAudit(tx, {
        ...entry,
        action: 'workspace.transferred',
        target: { kind: 'workspace', id: workspace.id },
        before: { owner_id: workspace.owner_id },
        after: { owner_id: userId },
      });
      await reportTransfer(services, tx, workspace, member.user);
    } else if (role !== targetRole)
      await recordAudit(tx, {
        ...entry,
        action: 'member.role_changed',
        target: { kind: 'member', id: userId, name: member.user.name },
        before: { role: targetRole },
        after: { role },
      });
    return toMember(member);
  });
}

/** Sends mail to the old and the new owner of a workspace after a transfer. */
async function reportTransfer(
  services: Pick<Services, 'clock' | 'sealer'>,
  tx: Tx,
  { name: workspaceName, owner_id: oldOwnerId }: { name: string; owner_id: number },
  newOwner: { name: string; email: string },
): Promise<void> {
  const oldOwner = await tx.user.findUniqueOrThrow({ where: { id: oldOwnerId }, select: { email: true } });
  for (const { email } of [newOwner, oldOwner]) {
    const data = { workspaceName, newOwner: newOwner.name, isYours: email === newOwner.email };
    await queueMail(services, sqlIn(tx), { kind: 'ownership-transferred', to: email, data });
  }
}

/**
 * Reads the current roles of the actor and the target. Throws 403 if the actor is no longer a member, and 404 if the
 * target is not.
 */
async function readCurrentRoles(
  tx: Tx,
  actor: Actor,
  targetId: number,
): Promise<{ actorRole: Role; targetRole: Role }> {
  const rows = await tx.member.findMany({
    where: { workspaceId: actor.workspaceId, userId: { in: [actor.userId, targetId] } },
    select: { userId: true, role: true },
  });
  const findRole = (userId: number): Role | null => {
    const row = rows.find((member) => member.userId === userId);
    return row ? toRole(row.role) : null;
  };
  const actorRole = findRole(actor.userId);
  if (actorRole === null) throw forbidden();
  const targetRole = findRole(targetId);
  if (targetRole === null) throw notFound('Member');
  return { actorRole, targetRole };
}

async function setRole(tx: Tx, workspaceId: number, userId: number, role: Role): Promise<void> {
  await tx.member.update({ where: { workspaceId_userId: { workspaceId, userId } }, data: { role } });
}

/**
 * Removes a member, who may be the actor. Their rooms and booking pages in the workspace pass to its owner. So do the
 * workspace keys that they created, which remain active. Emits `member.left`. Throws 400 if the owner tries to leave,
 * 403 if the actor's role is too low, and 404 "Member not found".
 */
export async function removeMember(
  { db, clock, sealer }: Pick<Services, 'db' | 'clock' | 'sealer'>,
  actor: Actor,
  { userId }: MemberInput,
): Promise<RemovedMember> {
  const remaining = await transact(db, async (tx) => {
    const workspace = await lockWorkspace(tx, actor.workspaceId);
    const { actorRole, targetRole } = await readCurrentRoles(tx, actor, userId);
    const isLeaving = userId === actor.userId;
    if (isLeaving && actorRole === 'owner')
      throw badRequest('The owner cannot leave: transfer the workspace to another member or delete it');
    if (!isLeaving && !mayRemove(actorRole, targetRole)) throw forbidden();
    const reason = isLeaving ? 'left' : 'removed';
    const departure = { userId, reason, at: clock.now(), actor: auditActorOf(actor) } as const;
    return endMembership({ sealer, clock }, tx, workspace, departure);
  });
  return { ok: true, remaining_workspace_keys: remaining };
}
