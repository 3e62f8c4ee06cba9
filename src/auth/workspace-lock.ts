/**
 * The exclusive lock on a workspace's row. A transaction that changes or removes members, existing rooms, API keys or
 * files takes it first, so such changes run one after another. Frequent writers, for example those that create or join
 * rooms, take shared locks instead (docs/decisions/0022-shared-locks.md). Locking the same row again in one transaction
 * has no effect.
 */

import { forbidden, notFound, type Resource, unauthorized } from '../core/errors.ts';
import { isAtLeast, type Role, toRole } from '../core/roles.ts';
import type { Tx } from '../db/client.ts';
import { sqlIn } from '../db/sql.ts';
import { bool, float, int, nullable, type RowOf, statement, text } from '../db/statements.ts';
import type { Actor } from './identify.ts';
import { signInRequired, unmetBy, unmetColumns } from './sign-in-requirements.ts';

/** The columns of a locked workspace. The quotas limit its items, with those in the trash, and its stored bytes. */
const lockedFields = {
  id: int,
  name: text,
  owner_id: int,
  is_personal: bool,
  item_count: int,
  stored_bytes: float,
};
const lockedColumns = `id, name, owner_id, is_personal, library_item_count + trashed_item_count as item_count,
      stored_bytes::float8 as stored_bytes`;

const lockStatement = statement('lock-workspace', {
  params: { workspaceId: int },
  returns: lockedFields,
  sql: `select ${lockedColumns} from workspaces where id = $workspaceId for no key update`,
});

export type LockedWorkspace = RowOf<typeof lockStatement>;

type CurrentActor = Pick<Actor, 'workspaceId' | 'userId' | 'credential'>;

/** Locks the workspace's row until the transaction ends. Returns null if the workspace does not exist. */
export async function lockWorkspaceIfExists(tx: Tx, workspaceId: number): Promise<LockedWorkspace | null> {
  const [workspace] = await sqlIn(tx).run(lockStatement, { workspaceId });
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

const findMembership = statement('find-current-membership', {
  params: {
    workspaceId: int,
    userId: int,
    sessionId: nullable(int),
    keyId: nullable(int),
    grantId: nullable(int),
    embedId: nullable(int),
  },
  returns: { role: text, is_valid: bool, unmet: unmetColumns.unmet },
  // Ending a session waits for this lock, and this lock for a session that is being ended.
  sql: `
    with session as materialized (
      select id, second_factor_at, openid_issuer from sessions where id = $sessionId for key share)
    select role, ($sessionId is null or exists (select from session)) and ($keyId is null or exists (
      select from api_keys where workspace_id = $workspaceId and id = $keyId and is_active))
      and ($grantId is null or exists (select from oauth_grants where id = $grantId))
      and ($embedId is null or exists (
        select from embed_tokens where workspace_id = $workspaceId and id = $embedId)) as is_valid,
      (select ${unmetBy('s')} from session s join workspaces w on w.id = $workspaceId) as unmet
    from members where workspace_id = $workspaceId and user_id = $userId`,
});

/**
 * Throws 403 unless the user has at least the role `min` in the workspace now, and their session satisfies what it
 * requires, and 401 if the session, key or connected app of the call has ended. Call it after locking the workspace. If
 * a single statement waited for the lock and read the role, it would read the role from before the wait. What ends the
 * sessions of an account and then what was created in them relies on this: nothing is created afterwards with a session
 * that has ended.
 */
export async function requireCurrentRole(
  tx: Tx,
  { workspaceId, userId, credential }: CurrentActor,
  min: Role,
): Promise<void> {
  const sessionId = credential?.kind === 'session' ? credential.id : null;
  const key = credential?.kind === 'key' ? credential : null;
  const ids = {
    sessionId,
    keyId: key && !key.isApp && !key.embed ? key.id : null,
    grantId: key?.isApp ? key.id : null,
    embedId: key?.embed ? key.id : null,
  };
  const [member] = await sqlIn(tx).run(findMembership, { workspaceId, userId, ...ids });
  if (member === undefined || !isAtLeast(toRole(member.role), min)) throw forbidden();
  if (!member.is_valid) throw unauthorized();
  if (member.unmet !== null) throw signInRequired(member.unmet);
}

/**
 * Locks the workspace, then checks the role. Throws 404 if the workspace is gone, 403 if the role is below `min`, and
 * 401 if the session or key of the call has ended.
 */
export async function lockWorkspaceAs(tx: Tx, actor: CurrentActor, min: Role): Promise<LockedWorkspace> {
  const workspace = await lockWorkspace(tx, actor.workspaceId);
  await requireCurrentRole(tx, actor, min);
  return workspace;
}

const lockWorkspacesOfMember = statement('lock-workspaces-of-member', {
  params: { userId: int },
  returns: lockedFields,
  sql: `
    select ${lockedColumns} from workspaces
    where id in (select workspace_id from members where user_id = $userId) order by id for no key update`,
});

/**
 * Locks the workspaces of which the user is a member, in the order of their IDs. Call it before taking other locks, and
 * before ending what the user made in them.
 */
export async function lockWorkspacesOf(tx: Tx, userId: number): Promise<LockedWorkspace[]> {
  return sqlIn(tx).run(lockWorkspacesOfMember, { userId });
}
