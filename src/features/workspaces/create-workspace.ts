/** Creating a workspace, with a slug that nobody else has. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../auth/identify.ts';
import { unauthorized } from '../../core/errors.ts';
import { isForeignKeyViolation, type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { toWorkspace, type WorkspaceRow, workspaceColumns } from './present.ts';
import type { Workspace, WorkspaceNameInput } from './schemas.ts';

const MAX_SLUG = 60;

type NewWorkspace = { name: string; ownerId: number; isPersonal: boolean; createdAt: Date };

/** So many numbers are tried: who takes them in advance must not keep others from the name. */
const NUMBERED_TRIES = 3;

/** Lower-case ASCII letters and digits with single hyphens between; `otherwise` where nothing is left of the name. */
export function toSlug(name: string, fallback = 'workspace', max = MAX_SLUG): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return words.join('-').slice(0, max).replace(/-$/, '') || fallback;
}

/**
 * `base`, then `base-2` and so on from the counter named `counter`, then `base-` and eight characters that nobody can
 * guess.
 */
export async function* slugCandidates(tx: Tx, base: string, counter = base): AsyncGenerator<string> {
  yield base;
  for (let tries = 0; tries < NUMBERED_TRIES; tries += 1) yield `${base}-${await nextSuffix(tx, counter)}`;
  for (;;) yield `${base}-${randomUUID().slice(0, 8)}`;
}

/** The next suffix for a slug that is taken. Concurrent callers wait for each other and get different ones. */
async function nextSuffix(tx: Tx, slug: string): Promise<number> {
  const [row] = await tx.$queryRaw<{ last: number }[]>`
    insert into slug_suffixes (slug, last) values (${slug}, 2)
    on conflict (slug) do update set last = slug_suffixes.last + 1 returning last`;
  if (!row) throw new Error('An upsert returned no row');
  return row.last;
}

/** Inserts a workspace and its owner's membership, under the first slug that is free. */
export async function createWorkspaceRow(tx: Tx, workspace: NewWorkspace): Promise<WorkspaceRow> {
  for await (const slug of slugCandidates(tx, toSlug(workspace.name))) {
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
