/** The labels of a workspace. */
import type { Actor } from '../../auth/identify.ts';
import { conflict, notFound } from '../../core/errors.ts';
import type { ListPageInput } from '../../core/list-page.ts';
import { creatorName } from '../../core/people.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { creatorNameOf, secondsOf } from '../../db/columns.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../db/errors.ts';
import { toLimitOffset } from '../../db/limit-offset.ts';
import { onlyRow } from '../../db/only-row.ts';
import { float, int, statement, text } from '../../db/statements.ts';
import { requireFreeRow } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import type { CreateLabelInput, Label, LabelInput, LabelRecord, UpdateLabelInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

type ListedLabel = { id: number; name: string; color: string; createdAt: Date; creator: { name: string } | null };

const labelColumns = {
  id: true,
  workspaceId: true,
  name: true,
  color: true,
  createdBy: true,
  createdAt: true,
  creator: { select: { name: true } },
} as const;

const labelsOf = statement('list-labels', {
  params: { workspaceId: int, limit: int, offset: int },
  returns: { id: int, name: text, color: text, created_by_name: text, created_at: float },
  sql: `
    select l.id, l.name, l.color, ${creatorNameOf('u.name')} as created_by_name,
      ${secondsOf('l.created_at')} as created_at
    from labels l left join users u on u.id = l.created_by
    where l.workspace_id = $workspaceId order by l.created_at, l.id limit $limit offset $offset`,
});

/** Lists labels, oldest first. */
export function listLabels({ db }: Db, { workspaceId }: Actor, page: ListPageInput): Promise<Label[]> {
  return db.sql.run(labelsOf, { workspaceId, ...toLimitOffset(page) });
}

function toLabel(row: ListedLabel): Label {
  return {
    id: row.id,
    name: row.name,
    color: row.color,
    created_by_name: creatorName(row.creator?.name),
    created_at: toUnixSeconds(row.createdAt),
  };
}

/** Creates a label. Throws 409 if the workspace has a label with this name, or has reached its quota. */
export async function createLabel(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  { workspaceId, userId, name: creator }: Actor,
  { name, color }: CreateLabelInput,
): Promise<LabelRecord> {
  await requireFreeRow(db, settings.quotas, 'labels', workspaceId);
  const data = { workspaceId, name, color, createdBy: userId, createdAt: clock.now() };
  try {
    // Uses a single statement: `create` would open a transaction to read the row and its creator again.
    const { id } = onlyRow(await db.label.createManyAndReturn({ data, select: { id: true } }));
    return toLabelRecord({ ...data, id, creator: { name: creator } });
  } catch (error) {
    // The workspace was deleted after the permission check.
    if (isForeignKeyViolation(error)) throw notFound('Workspace');
    return rethrowNameConflict(error);
  }
}

function toLabelRecord(row: ListedLabel & { workspaceId: number; createdBy: number | null }): LabelRecord {
  return {
    ...toLabel(row),
    workspace_id: row.workspaceId,
    created_by: row.createdBy,
  };
}

/** Converts a unique violation to 409: the name is the only unique key here. Rethrows other errors. */
function rethrowNameConflict(error: unknown): never {
  if (isUniqueViolation(error)) throw conflict('A label with this name already exists');
  throw error;
}

/** Changes the fields that are sent. Throws 404, and 409 if another label has the name. */
export async function updateLabel(
  { db }: Db,
  { workspaceId }: Actor,
  { labelId, name, color }: UpdateLabelInput,
): Promise<LabelRecord> {
  const data = { ...(name !== undefined && { name }), ...(color !== undefined && { color }) };
  const where = { workspaceId, id: labelId };
  const { count } = await db.label.updateMany({ where, data }).catch(rethrowNameConflict);
  const row = count === 1 ? await db.label.findFirst({ where, select: labelColumns }) : null;
  if (row === null) throw notFound('Label');
  return toLabelRecord(row);
}

/** Deletes a label and removes it from every item. Throws 404. */
export async function deleteLabel({ db }: Db, { workspaceId }: Actor, { labelId }: LabelInput): Promise<{ ok: true }> {
  const { count } = await db.label.deleteMany({ where: { workspaceId, id: labelId } });
  if (count === 0) throw notFound('Label');
  return { ok: true };
}
