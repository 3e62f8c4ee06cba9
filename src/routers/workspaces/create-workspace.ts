/** Creating a workspace, with a slug that nobody else has. */
import type { Caller } from '../../auth/identify.ts';
import { unauthorized } from '../../core/errors.ts';
import { isForeignKeyViolation, type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { toWorkspace, type WorkspaceRow, workspaceColumns } from './present.ts';
import type { Workspace, WorkspaceNameInput } from './schemas.ts';

const MOST_SLUG = 60;

/** Lower-case ASCII letters and digits with single hyphens between; `workspace` where nothing is left of the name. */
export const toSlug = (name: string): string => {
  const words = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return words.join('-').slice(0, MOST_SLUG).replace(/-$/, '') || 'workspace';
};

type NewWorkspace = { name: string; ownerId: number; isPersonal: boolean; createdAt: Date };

/** The next suffix for a slug that is taken. Concurrent callers wait for each other and get different ones. */
const nextSuffix = async (tx: Tx, slug: string): Promise<number> => {
  const [row] = await tx.$queryRaw<{ last: number }[]>`
    insert into slug_suffixes (slug, last) values (${slug}, 2)
    on conflict (slug) do update set last = slug_suffixes.last + 1 returning last`;
  if (!row) throw new Error('An upsert returned no row');
  return row.last;
};

const MOST_TRIES = 100;

/** Inserts a workspace and its owner's membership, under `slug`, or `slug-2` and so on where that is taken. */
export const createWorkspaceRow = async (tx: Tx, workspace: NewWorkspace): Promise<WorkspaceRow> => {
  const base = toSlug(workspace.name);
  let slug = base;
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const [row] = await tx.workspace.createManyAndReturn({
      data: { ...workspace, slug },
      select: workspaceColumns,
      skipDuplicates: true,
    });
    if (row) {
      const { createdAt: joinedAt, ownerId: userId } = workspace;
      await tx.member.create({ data: { workspaceId: row.id, userId, role: 'owner', joinedAt } });
      return row;
    }
    slug = `${base}-${await nextSuffix(tx, base)}`;
  }
  throw new Error(`No free slug for ${base} after ${MOST_TRIES} tries`);
};

/** Creates a workspace that the caller owns. */
export const createWorkspace = async (
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  caller: Caller,
  { name }: WorkspaceNameInput,
): Promise<Workspace> => {
  const workspace = { name, ownerId: caller.userId, isPersonal: false, createdAt: clock.now() };
  try {
    return toWorkspace(await transact(db, (tx) => createWorkspaceRow(tx, workspace)), 'owner');
  } catch (error) {
    // The caller's account was deleted meanwhile, and its sessions with it.
    if (isForeignKeyViolation(error)) throw unauthorized();
    throw error;
  }
};
