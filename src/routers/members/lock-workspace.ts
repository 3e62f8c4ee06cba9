/** What every change of a workspace's people, rooms, keys and files begins with. */
import type { Actor } from '../../auth/identify.ts';
import { forbidden, notFound, type Thing } from '../../core/errors.ts';
import { isAtLeast, type Role, toRole } from '../../core/roles.ts';
import type { Tx } from '../../db/client.ts';

export type LockedWorkspace = { id: number; name: string; owner_id: number; is_personal: boolean };

/** Takes the workspace's row until the transaction ends. Throws 404 `otherwise` where it has been deleted. */
export const lockWorkspace = async (
  tx: Tx,
  workspaceId: number,
  otherwise: Thing = 'Workspace',
): Promise<LockedWorkspace> => {
  const [workspace] = await tx.$queryRaw<LockedWorkspace[]>`
    select id, name, owner_id, is_personal from workspaces where id = ${workspaceId} for no key update`;
  if (!workspace) throw notFound(otherwise);
  return workspace;
};

/**
 * Throws 403 for who is not at least `least` in the workspace now. Behind the lock, and in a statement of its own: one
 * that waits for the lock and reads the role as well sees the role from before it waited.
 */
export const requireRoleNow = async (
  tx: Tx,
  { workspaceId, userId }: Pick<Actor, 'workspaceId' | 'userId'>,
  least: Role,
): Promise<void> => {
  const member = await tx.member.findUnique({
    where: { workspaceId_userId: { workspaceId, userId } },
    select: { role: true },
  });
  if (member === null || !isAtLeast(toRole(member.role), least)) throw forbidden();
};
