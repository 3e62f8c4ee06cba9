/**
 * The exclusive lock on a workspace's row. A transaction that changes or removes members, existing rooms, API keys or
 * files takes it first, so such changes run one after another. Frequent writers, for example those that create or join
 * rooms, take shared locks instead (docs/decisions/0022-shared-locks.md). Locking the same row again in one transaction
 * has no effect.
 */

import { forbidden, notFound, type Resource } from '../core/errors.ts';
import { isAtLeast, type Role, toRole } from '../core/roles.ts';
import type { Tx } from '../db/client.ts';
import type { Actor } from './identify.ts';

export type LockedWorkspace = {
  id: number;
  name: string;
  owner_id: number;
  is_personal: boolean;
  /** The number of library items and stored bytes of the workspace, which the quotas limit. */
  library_item_count: number;
  stored_bytes: bigint;
};

/** Locks the workspace's row until the transaction ends. Returns null if the workspace does not exist. */
export async function lockWorkspaceIfExists(tx: Tx, workspaceId: number): Promise<LockedWorkspace | null> {
  const [workspace] = await tx.$queryRaw<LockedWorkspace[]>`
    select id, name, owner_id, is_personal, library_item_count, stored_bytes
    from workspaces where id = ${workspaceId} for no key update`;
  return workspace ?? null;
}

/** Like `lockWorkspaceIfExists`, but throws 404 for `resource` if the workspace does not exist. */
export async function lockWorkspace(
  tx: Tx,
  workspaceId: number,
  resource: Resource = 'Workspace',
): Promise<LockedWorkspace> {
  const workspace = await lockWorkspaceIfExists(tx, workspaceId);
  if (workspace === null) throw notFound(resource);
  return workspace;
}

/**
 * Throws 403 unless the user has at least the role `min` in the workspace now. Call it after locking the workspace. If
 * a single statement waited for the lock and read the role, it would read the role from before the wait.
 */
export async function requireCurrentRole(
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

/** Locks the workspace, then checks the role. Throws 404 if the workspace is gone, 403 if the role is below `min`. */
export async function lockWorkspaceAs(
  tx: Tx,
  actor: Pick<Actor, 'workspaceId' | 'userId'>,
  min: Role,
): Promise<LockedWorkspace> {
  const workspace = await lockWorkspace(tx, actor.workspaceId);
  await requireCurrentRole(tx, actor, min);
  return workspace;
}
