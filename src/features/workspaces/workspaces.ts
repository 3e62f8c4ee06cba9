/** Reading, renaming and deleting workspaces. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { runInBackground } from '../../core/call-bounds.ts';
import { badRequest, notFound } from '../../core/errors.ts';
import type { ListPageInput } from '../../core/list-page.ts';
import { transact } from '../../db/client.ts';
import { retryDeadlocks } from '../../db/errors.ts';
import { takeSkip } from '../../db/take-skip.ts';
import { allowLongStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObjects } from '../../storage/discarded-objects.ts';
import { memberColumns, toMember } from '../members/present.ts';
import { toWorkspace, toWorkspaceSummary, workspaceColumns } from './present.ts';
import type { Workspace, WorkspaceNameInput, WorkspaceSummary, WorkspaceWithMembers } from './schemas.ts';

/** Lists the workspaces of which the caller is a member, oldest first. For an API key, only its workspace. */
export async function listWorkspaces(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  page: ListPageInput,
): Promise<WorkspaceSummary[]> {
  const { userId, credential } = caller;
  const rows = await db.workspace.findMany({
    where: {
      members: { some: { userId } },
      ...(credential.kind === 'key' && { id: credential.workspaceId }),
    },
    select: workspaceColumns,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    ...takeSkip(page),
  });
  return rows.map(toWorkspaceSummary);
}

/** Returns a workspace with a page of its members, in the order in which they joined. Throws 404. */
export async function readWorkspace(
  { db }: Pick<Services, 'db'>,
  actor: Actor,
  page: ListPageInput,
): Promise<WorkspaceWithMembers> {
  const row = await db.workspace.findUnique({
    where: { id: actor.workspaceId },
    select: {
      ...workspaceColumns,
      members: { select: memberColumns, orderBy: [{ joinedAt: 'asc' }, { userId: 'asc' }], ...takeSkip(page) },
    },
  });
  if (row === null) throw notFound('Workspace');
  return { ...toWorkspace(row, actor.role), members: row.members.map(toMember) };
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
