/** The retention policy for the recordings of a workspace, and how much the policies would delete. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time.ts';
import { float, int, nullable, type SqlType, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { RecordingRetention, RetentionPreview, RetentionPreviewInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** A check constraint limits `recording_retention_days` to the values of this type. */
const policy: SqlType<RecordingRetention['recording_retention_days']> = { name: 'int4' };

const policyOf = statement('read-recording-retention', {
  params: { workspaceId: int },
  returns: { recording_retention_days: policy },
  sql: 'select recording_retention_days from workspaces where id = $workspaceId',
});

const changePolicy = statement('set-recording-retention', {
  params: { workspaceId: int, days: nullable(int), ...auditParams },
  returns: { id: int },
  sql: `
    with old as (
      select id, recording_retention_days as days from workspaces where id = $workspaceId for no key update),
    changed as (
      update workspaces w set recording_retention_days = $days from old where w.id = old.id returning w.id),
    audited as (${insertAuditFrom('old where days is distinct from $days', {
      target: 'retention',
      action: 'retention.changed',
      targetId: 'null',
      details: `json_build_object('before', json_build_object('recording_retention_days', days),
        'after', json_build_object('recording_retention_days', $days))`,
    })})
    select id from changed`,
});

const counted = { params: { workspaceId: int, before: time }, returns: { count: int, bytes: float } };

const countItems = statement('count-expired-items', {
  ...counted,
  sql: `
    select count(*)::int as count, coalesce(sum(size), 0)::float8 as bytes from (
      select size from library_items where workspace_id = $workspaceId and created_at < $before
      union all
      select size from trash_entries
      where workspace_id = $workspaceId and kind = 'library_item' and created_at < $before) expired`,
});

const countRecordings = statement('count-expired-recordings', {
  ...counted,
  sql: `
    select count(*)::int as count, coalesce(sum(size) filter (where file_key is not null), 0)::float8 as bytes from (
      select size, file_key from recordings where workspace_id = $workspaceId and created_at < $before
      union all
      select size, file_key from trash_entries
      where workspace_id = $workspaceId and kind = 'recording' and created_at < $before) expired`,
});

/** Reads the policy. Throws 404 if the workspace has been deleted. */
export async function readRecordingRetention({ db }: Db, { workspaceId }: Actor): Promise<RecordingRetention> {
  const [retention] = await db.sql.run(policyOf, { workspaceId });
  if (!retention) throw notFound('Workspace');
  return retention;
}

/** Sets the policy. The next sweep applies it. Throws 404 if the workspace has been deleted. */
export async function setRecordingRetention(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { recording_retention_days: days }: RecordingRetention,
): Promise<RecordingRetention> {
  const audit = toAuditParams(auditActorOf(actor), clock.now());
  const rows = await db.sql.run(changePolicy, { workspaceId: actor.workspaceId, days, ...audit });
  if (rows.length === 0) throw notFound('Workspace');
  return { recording_retention_days: days };
}

/** Counts the library items, with those in the trash, that a policy of `days` would delete now. */
export function previewRetention(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  input: RetentionPreviewInput,
): Promise<RetentionPreview> {
  return preview(services, countItems, actor, input);
}

/** Counts the recordings, with those in the trash, that a policy of `days` would delete now. */
export function previewRecordingRetention(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  input: RetentionPreviewInput,
): Promise<RetentionPreview> {
  return preview(services, countRecordings, actor, input);
}

async function preview(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  count: typeof countItems,
  { workspaceId }: Actor,
  { days }: RetentionPreviewInput,
): Promise<RetentionPreview> {
  const before = new Date(clock.now().getTime() - days * DAY_MS);
  const [found] = await db.sql.run(count, { workspaceId, before });
  return found ?? { count: 0, bytes: 0 };
}
