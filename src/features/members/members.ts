/**
 * Roles and leaving. A workspace always has exactly one owner: every change of a member takes the workspace's row
 * first, so that two changes never cross, and looks at both roles again behind that lock.
 */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { badRequest, forbidden, notFound } from '../../core/errors.ts';
import { mayChangeRole, mayRemove, type Role, toRole } from '../../core/roles.ts';
import { type Tx, transact } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import type { Services } from '../../services.ts';
import { reassignBookingPages } from '../booking-pages/reassign-booking-pages.ts';
import { reassignRooms } from '../rooms/reassign-rooms.ts';
import { memberColumns, toMember } from './present.ts';
import type { ChangeRoleInput, Member, MemberInput } from './schemas.ts';

/**
 * Gives a member a role; giving `owner` transfers the workspace, and the old owner becomes an admin.
 * Throws 403, 404 "Member not found", and 400 for transferring Personal or an owner who would only demote themself.
 */
export async function changeRole(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  { userId, role }: ChangeRoleInput,
): Promise<Member> {
  return transact(db, async (tx) => {
    const workspace = await lockWorkspace(tx, actor.workspaceId);
    const { own, target } = await rolesNow(tx, actor, userId);
    if (!mayChangeRole(own, target, role)) throw forbidden();
    if (target === 'owner' && role !== 'owner')
      throw badRequest('A workspace always has an owner: make another member the owner instead');
    if (role === 'owner' && target !== 'owner') {
      if (workspace.is_personal) throw badRequest('The Personal workspace cannot be transferred');
      await setRole(tx, workspace.id, actor.userId, 'admin');
      await tx.workspace.update({ where: { id: workspace.id }, data: { ownerId: userId } });
    }
    if (role !== target) await setRole(tx, workspace.id, userId, role);
    const member = await tx.member.findUniqueOrThrow({
      where: { workspaceId_userId: { workspaceId: workspace.id, userId } },
      select: memberColumns,
    });
    return toMember(member);
  });
}

/** The roles of the actor and of the target now, behind the lock. Throws 403 and 404 where one is no member (any more). */
async function rolesNow(tx: Tx, actor: Actor, targetId: number): Promise<{ own: Role; target: Role }> {
  const rows = await tx.member.findMany({
    where: { workspaceId: actor.workspaceId, userId: { in: [actor.userId, targetId] } },
    select: { userId: true, role: true },
  });
  const roleOf = (userId: number): Role | null => {
    const row = rows.find((member) => member.userId === userId);
    return row ? toRole(row.role) : null;
  };
  const own = roleOf(actor.userId);
  if (own === null) throw forbidden();
  const target = roleOf(targetId);
  if (target === null) throw notFound('Member');
  return { own, target };
}

async function setRole(tx: Tx, workspaceId: number, userId: number, role: Role): Promise<void> {
  await tx.member.update({ where: { workspaceId_userId: { workspaceId, userId } }, data: { role } });
}

/**
 * Removes a member, or lets the actor leave. Their rooms and booking pages here pass to the owner. Emits `member.left`.
 * Throws 400 for the owner who would leave, 403 for a role too low, 404 "Member not found".
 */
export async function removeMember(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { userId }: MemberInput,
): Promise<{ ok: true }> {
  await transact(db, async (tx) => {
    const workspace = await lockWorkspace(tx, actor.workspaceId);
    const { own, target } = await rolesNow(tx, actor, userId);
    const leaves = userId === actor.userId;
    if (leaves && own === 'owner')
      throw badRequest('The owner cannot leave: transfer the workspace to another member or delete it');
    if (!leaves && !mayRemove(own, target)) throw forbidden();
    const { user } = await tx.member.delete({
      where: { workspaceId_userId: { workspaceId: workspace.id, userId } },
      select: { user: { select: { name: true } } },
    });
    await reassignRooms(tx, workspace.id, userId, workspace.owner_id);
    await reassignBookingPages(tx, workspace.id, userId, workspace.owner_id);
    // Their keys stop working by the membership alone; switched off, they do not come back with their creator.
    await tx.apiKey.updateMany({ where: { workspaceId: workspace.id, createdBy: userId }, data: { isActive: false } });
    await emit(tx, clock.now(), {
      type: 'member.left',
      workspaceId: workspace.id,
      data: {
        workspace_id: workspace.id,
        workspace_name: workspace.name,
        user_id: userId,
        user_name: user.name,
        reason: leaves ? 'left' : 'removed',
      },
    });
  });
  return { ok: true };
}
