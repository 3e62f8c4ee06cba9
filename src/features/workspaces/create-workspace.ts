/** Creating a workspace, with a slug that nobody else has. */
import type { Caller } from '../../auth/identify.ts';
import { unauthorized } from '../../core/errors.ts';
import { toSlug } from '../../core/slugs.ts';
import { isForeignKeyViolation, type Tx, transact } from '../../db/client.ts';
import { slugCandidates } from '../../db/slug-candidates.ts';
import type { Services } from '../../services.ts';
import { toWorkspace, type WorkspaceRow, workspaceColumns } from './present.ts';
import type { Workspace, WorkspaceNameInput } from './schemas.ts';

const MAX_SLUG = 60;

type NewWorkspace = { name: string; ownerId: number; isPersonal: boolean; createdAt: Date };

/** Inserts a workspace and its owner's membership, under the first slug that is free. */
export async function createWorkspaceRow(tx: Tx, workspace: NewWorkspace): Promise<WorkspaceRow> {
  for await (const slug of slugCandidates(tx, toWorkspaceSlug(workspace.name))) {
    const [row] = await tx.workspace.createManyAndReturn({
      data: { ...workspace, slug },
      select: workspaceColumns,
      skipDuplicates: true,
    });
    if (!row) continue;
    const { createdAt: joinedAt, ownerId: userId } = workspace;
    await tx.member.create({ data: { workspaceId: row.id, userId, role: 'owner', joinedAt } });
    return row;
  }
  throw new Error('Candidates never end');
}

/** The slug for a workspace of this name, if nobody else has it. */
export function toWorkspaceSlug(name: string): string {
  return toSlug(name, 'workspace', MAX_SLUG);
}

/** Creates a workspace that the caller owns. */
export async function createWorkspace(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  { name }: WorkspaceNameInput,
): Promise<Workspace> {
  const workspace = { name, ownerId: caller.userId, isPersonal: false, createdAt: clock.now() };
  try {
    return toWorkspace(await transact(db, (tx) => createWorkspaceRow(tx, workspace)), 'owner');
  } catch (error) {
    // The caller's account was deleted meanwhile, and its sessions with it.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
}
