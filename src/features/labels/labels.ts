/** The labels of a workspace. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { creatorName } from '../../core/people.ts';
import { isAtLeast, toRole } from '../../core/roles.ts';
import { SECOND_MS, toUnixSeconds } from '../../core/time.ts';
import { runWrite } from '../../db/client.ts';
import { creatorNameOf } from '../../db/columns.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { bool, int, nullable, statement, text, time } from '../../db/statements.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
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

/** The text of the 403 for a member who tries to create a label. */
export const ONLY_ADMINS_CREATE = 'Only owners and admins can create labels';

// Locks the creator's row in `members`, so that a concurrent role change takes effect entirely before or entirely after
// this statement. `used` counts with a scan of the primary key, which stops at the quota.
const insertLabel = statement('insert-label', {
  params: { workspaceId: int, name: text, color: text, createdBy: int, createdAt: time, quota: int },
  returns: { has_workspace: bool, role: nullable(text), used: int, id: nullable(int) },
  hasChanged: ([row]) => row?.id != null,
  sql: `
    with workspace as (select id from workspaces where id = $workspaceId for key share),
    member as (
      select m.role from workspace w join members m on m.workspace_id = w.id and m.user_id = $createdBy
      for share of m),
    used as (
      select count(*)::int as labels from (select from labels where workspace_id = $workspaceId limit $quota) counted),
    label as (
      insert into labels (workspace_id, name, color, created_by, created_at)
      select $workspaceId, $name, $color, $createdBy, $createdAt from member m, used u
      where m.role in ('owner', 'admin') and ($quota = 0 or u.labels < $quota)
      on conflict (workspace_id, name) do nothing
      returning id)
    select exists (select from workspace) as has_workspace, (select role from member) as role,
      (select labels from used) as used, (select id from label) as id`,
});

const labelsOf = pagedList('list-labels', {
  order: byTime('l.created_at', 'l.id', 'asc'),
  params: { workspaceId: int },
  returns: { id: int, name: text, color: text, created_by_name: text, ...timeKey },
  sql: ({ after, window }) => `
    select l.id, l.name, l.color, ${creatorNameOf('u.name')} as created_by_name, ${timeKeyOf('l.created_at')}
    from labels l left join users u on u.id = l.created_by
    where l.workspace_id = $workspaceId ${after} ${window}`,
});

const removeLabel = statement('delete-label', {
  params: { workspaceId: int, labelId: int, ...auditParams },
  returns: { id: int },
  hasChanged: (rows) => rows.length > 0,
  sql: `
    with deleted as (
      delete from labels where workspace_id = $workspaceId and id = $labelId returning id, name),
    audited as (${insertAuditFrom('deleted', {
      target: 'label',
      action: 'label.deleted',
      targetId: 'id',
      details: "json_build_object('name', name)",
    })})
    select id from deleted`,
});

/** Lists labels, oldest first. */
export async function listLabels({ db }: Db, { workspaceId }: Actor, page: ListPageInput): Promise<Page<Label>> {
  const { entries, next_cursor } = await readPage(db.sql, labelsOf, { workspaceId }, page, [workspaceId]);
  // `page_key` already contains the creation time, so the query does not return it in a second column. In a long list,
  // every additional value takes time to parse.
  const labels = entries.map(({ id, name, color, created_by_name, page_key }) => {
    return { id, name, color, created_by_name, created_at: Math.floor(page_key / SECOND_MS) };
  });
  return { entries: labels, next_cursor };
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

/**
 * Creates a label. Throws 404 "Workspace not found", 403 if the actor is no longer owner or admin, and 409 if the
 * workspace already has a label with this name or has reached its quota.
 */
export async function createLabel(
  { db, clock, settings: { quotas } }: Pick<Services, 'db' | 'clock' | 'settings'>,
  { workspaceId, userId, name: creator }: Actor,
  { name, color }: CreateLabelInput,
): Promise<LabelRecord> {
  const label = { workspaceId, name, color, createdBy: userId, createdAt: clock.now() };
  const rows = await db.sql.run(insertLabel, { ...label, quota: quotas.labels });
  const { has_workspace, role, used, id } = onlyRow(rows);
  if (!has_workspace) throw notFound('Workspace');
  if (role === null || !isAtLeast(toRole(role), 'admin')) throw forbidden(ONLY_ADMINS_CREATE);
  if (id === null) {
    requireWithinQuota(quotas, 'labels', used + 1);
    throw nameConflict();
  }
  return toLabelRecord({ ...label, id, creator: { name: creator } });
}

function toLabelRecord(row: ListedLabel & { workspaceId: number; createdBy: number | null }): LabelRecord {
  return {
    ...toLabel(row),
    workspace_id: row.workspaceId,
    created_by: row.createdBy,
  };
}

function nameConflict() {
  return conflict('A label with this name already exists');
}

/** Changes only the fields that are sent. Throws 404, and 409 if another label has the name. */
export async function updateLabel(
  { db }: Db,
  { workspaceId }: Actor,
  { labelId, name, color }: UpdateLabelInput,
): Promise<LabelRecord> {
  const data = { ...(name !== undefined && { name }), ...(color !== undefined && { color }) };
  const where = { workspaceId, id: labelId };
  const { count } = await runWrite(db, (tx) => tx.label.updateMany({ where, data })).catch(rethrowNameConflict);
  const row = count === 1 ? await db.label.findFirst({ where, select: labelColumns }) : null;
  if (row === null) throw notFound('Label');
  return toLabelRecord(row);
}

/**
 * Converts a unique violation to 409, because the name is the only unique key that can conflict. Rethrows other errors.
 */
function rethrowNameConflict(error: unknown): never {
  throw isUniqueViolation(error) ? nameConflict() : error;
}

/** Deletes a label and removes it from every item, in one statement. Throws 404. */
export async function deleteLabel(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { labelId }: LabelInput,
): Promise<{ ok: true }> {
  const audit = toAuditParams(auditActorOf(actor), clock.now());
  const rows = await db.sql.run(removeLabel, { workspaceId: actor.workspaceId, labelId, ...audit });
  if (rows.length === 0) throw notFound('Label');
  return { ok: true };
}
