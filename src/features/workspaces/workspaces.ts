/** Reading, renaming and deleting workspaces. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { runInBackground } from '../../core/call-bounds.ts';
import { badRequest, notFound } from '../../core/errors.ts';
import type { ListPageInput } from '../../core/list-page.ts';
import { transact } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { retryDeadlocks } from '../../db/errors.ts';
import { toLimitOffset } from '../../db/limit-offset.ts';
import { float, int, json, nullable, statement, text } from '../../db/statements.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObjects } from '../../storage/discarded-objects.ts';
import type { Member } from '../members/schemas.ts';
import { toWorkspace, workspaceColumns } from './present.ts';
import type { Workspace, WorkspaceNameInput, WorkspaceSummary, WorkspaceWithMembers } from './schemas.ts';

const summaryFields = { id: int, name: text, slug: text, owner_id: int, created_at: float };
const summaryColumns = `w.id, w.name, w.slug, w.owner_id, ${secondsOf('w.created_at')} as created_at`;

const workspacesOf = statement('list-workspaces', {
  params: { userId: int, keyWorkspaceId: nullable(int), limit: int, offset: int },
  returns: summaryFields,
  sql: `
    select ${summaryColumns} from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = $userId and ($keyWorkspaceId is null or w.id = $keyWorkspaceId)
    order by w.created_at, w.id limit $limit offset $offset`,
});

const workspaceWithMembers = statement('read-workspace', {
  params: { workspaceId: int, limit: int, offset: int },
  returns: {
    ...summaryFields,
    media_retention_days: nullable(int),
    is_personal: int,
    members: json<Member[]>('json'),
  },
  sql: `
    select ${summaryColumns}, w.media_retention_days, ${flagOf('w.is_personal')} as is_personal,
      coalesce((
        select json_agg(json_build_object('id', l.user_id, 'name', u.name, 'email', u.email, 'role', l.role,
          'joined_at', ${secondsOf('l.joined_at')}) order by l.joined_at, l.user_id)
        from (
          select user_id, role, joined_at from members where workspace_id = w.id
          order by joined_at, user_id limit $limit offset $offset) l
        join users u on u.id = l.user_id), '[]') as members
    from workspaces w where w.id = $workspaceId`,
});

/** Lists the workspaces of which the caller is a member, oldest first. For an API key, only its workspace. */
export function listWorkspaces(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  page: ListPageInput,
): Promise<WorkspaceSummary[]> {
  const { userId, credential } = caller;
  const keyWorkspaceId = credential.kind === 'key' ? credential.workspaceId : null;
  return db.sql.run(workspacesOf, { userId, keyWorkspaceId, ...toLimitOffset(page) });
}

/** Returns a workspace with a page of its members, in the order in which they joined. Throws 404. */
export async function readWorkspace(
  { db }: Pick<Services, 'db'>,
  { workspaceId, role }: Actor,
  page: ListPageInput,
): Promise<WorkspaceWithMembers> {
  const [workspace] = await db.sql.run(workspaceWithMembers, { workspaceId, ...toLimitOffset(page) });
  if (!workspace) throw notFound('Workspace');
  return { ...workspace, role };
}

/** Renames a workspace. Its slug does not change. Throws 404. */
export async function renameWorkspace(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  { name }: WorkspaceNameInput,
): Promise<Workspace> {
  const where = { id: actor.workspaceId };
  const [row] = await retryDeadlocks(() =>
    db.workspace.updateManyAndReturn({ where, data: { name }, select: workspaceColumns }),
  );
  if (!row) throw notFound('Workspace');
  return toWorkspace(row, actor.role);
}

/**
 * Deletes a workspace with everything in it. Its files are removed in the background. Throws 404, and 400 for Personal.
 */
export async function deleteWorkspace(services: Services, actor: Actor): Promise<{ ok: true }> {
  const remove = () =>
    transact(services.db, async (tx) => {
      // Locked first, so that a concurrent upload waits here and then finds no workspace.
      const [workspace] = await tx.$queryRaw<{ is_personal: boolean }[]>`
      select is_personal from workspaces where id = ${actor.workspaceId} for update`;
      if (!workspace) throw notFound('Workspace');
      if (workspace.is_personal) throw badRequest('The Personal workspace cannot be deleted');
      await tx.workspace.deleteMany({ where: { id: actor.workspaceId } });
    });
  await allowLongStatements(remove);
  // Not awaited, because there may be many files.
  void runInBackground(() => removeDiscardedObjects(services));
  return { ok: true };
}
