/** Creates workspaces. */
import type { Caller } from '../../auth/identify.ts';
import { unauthorized } from '../../core/errors.ts';
import { toSlug } from '../../core/slugs.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isForeignKeyViolation } from '../../db/errors.ts';
import { insertWithFreeSlug } from '../../db/insert-with-free-slug.ts';
import { requireFreeWorkspace } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { toWorkspace, type WorkspaceRow, workspaceColumns } from './present.ts';
import type { Workspace, WorkspaceNameInput } from './schemas.ts';

const MAX_SLUG_LENGTH = 60;

type NewWorkspace = { name: string; ownerId: number; isPersonal: boolean; createdAt: Date };

/**
 * Creates a workspace for the caller. Throws 401 if their account has been deleted, and 409 if they have reached their
 * quota.
 */
export async function createWorkspace(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  caller: Caller,
  { name }: WorkspaceNameInput,
): Promise<Workspace> {
  const workspace = { name, ownerId: caller.userId, isPersonal: false, createdAt: clock.now() };
  try {
    const row = await transact(db, async (tx) => {
      await requireFreeWorkspace(tx, settings.quotas, caller.userId);
      return insertWorkspace(tx, workspace);
    });
    return toWorkspace(row, 'owner');
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}

/** Inserts a workspace with the first free slug, and the membership of its owner. */
export async function insertWorkspace(tx: Tx, workspace: NewWorkspace): Promise<WorkspaceRow> {
  const row = await insertWithFreeSlug(tx, { base: toWorkspaceSlug(workspace.name) }, async (slug) => {
    const [inserted] = await tx.workspace.createManyAndReturn({
      data: { ...workspace, slug },
      select: workspaceColumns,
      skipDuplicates: true,
    });
    return inserted;
  });
  const { createdAt: joinedAt, ownerId: userId } = workspace;
  await tx.member.create({ data: { workspaceId: row.id, userId, role: 'owner', joinedAt } });
  return row;
}

/** Returns the slug that a workspace with this name gets if it is free. */
export function toWorkspaceSlug(name: string): string {
  return toSlug(name, 'workspace', MAX_SLUG_LENGTH);
}
