/**
 * What every change of a workspace's people, rooms, keys and files begins with: whoever opens the transaction takes the
 * workspace's row, and the functions that are handed the transaction find it taken. Taking it again is harmless.
 */

import { forbidden, notFound, type Thing } from '../core/errors.ts';
import { isAtLeast, type Role, toRole } from '../core/roles.ts';
import type { Tx } from '../db/client.ts';
import type { Actor } from './identify.ts';

export type LockedWorkspace = { id: number; name: string; owner_id: number; is_personal: boolean };

/** Takes the workspace's row until the transaction ends; null where it has been deleted. */
export async function lockWorkspaceIfThere(tx: Tx, workspaceId: number): Promise<LockedWorkspace | null> {
  const [workspace] = await tx.$queryRaw<LockedWorkspace[]>`
    select id, name, owner_id, is_personal from workspaces where id = ${workspaceId} for no key update`;
  return workspace ?? null;
}

/** The same. Throws 404 `otherwise` where it has been deleted. */
export async function lockWorkspace(tx: Tx, workspaceId: number, thing: Thing = 'Workspace'): Promise<LockedWorkspace> {
  const workspace = await lockWorkspaceIfThere(tx, workspaceId);
  if (workspace === null) throw notFound(thing);
  return workspace;
}

/**
 * Throws 403 for who is not at least `least` in the workspace now. Behind the lock, and in a statement of its own: one
 * that waits for the lock and reads the role as well sees the role from before it waited.
 */
export async function requireRoleNow(
  tx: Tx,
  { workspaceId, userId }: Pick<Actor, 'workspaceId' | 'userId'>,
  min: Role,
): Promise<void> {
  const member = await tx.member.findUnique({
    where: { workspaceId_userId: { workspaceId, userId } },
    select: { role: true },
  });
  if (member === null || !isAtLeast(toRole(member.role), min)) throw forbidden();
}

/** Takes the workspace's row; throws 404 where it is gone, and 403 for who is not at least `least` there any more. */
export async function lockAs(tx: Tx, actor: Pick<Actor, 'workspaceId' | 'userId'>, min: Role): Promise<void> {
  await lockWorkspace(tx, actor.workspaceId);
  await requireRoleNow(tx, actor, min);
}
