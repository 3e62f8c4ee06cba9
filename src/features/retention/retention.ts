/** The retention policy of a workspace. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { int, nullable, type SqlType, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { Retention } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** A check constraint limits `media_retention_days` to the values of this type. */
const policy: SqlType<Retention['media_retention_days']> = { name: 'int4' };

const policyOf = statement('read-retention', {
  params: { workspaceId: int },
  returns: { media_retention_days: policy },
  sql: 'select media_retention_days from workspaces where id = $workspaceId',
});

const changePolicy = statement('set-retention', {
  params: { workspaceId: int, days: nullable(int), ...auditParams },
  returns: { id: int },
  sql: `
    with old as (
      select id, media_retention_days as days from workspaces where id = $workspaceId for no key update),
    changed as (
      update workspaces w set media_retention_days = $days from old where w.id = old.id returning w.id),
    audited as (${insertAuditFrom('old where days is distinct from $days', {
      target: 'retention',
      action: 'retention.changed',
      targetId: 'null',
      details: `json_build_object('before', json_build_object('media_retention_days', days),
        'after', json_build_object('media_retention_days', $days))`,
    })})
    select id from changed`,
});

/** Reads the policy. Throws 404 if the workspace has been deleted. */
export async function readRetention({ db }: Db, { workspaceId }: Actor): Promise<Retention> {
  const [retention] = await db.sql.run(policyOf, { workspaceId });
  if (!retention) throw notFound('Workspace');
  return retention;
}

/** Sets the policy. The next sweep applies it. Throws 404 if the workspace has been deleted. */
export async function setRetention(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { media_retention_days: days }: Retention,
): Promise<Retention> {
  const audit = toAuditParams(auditActorOf(actor), clock.now());
  const rows = await db.sql.run(changePolicy, { workspaceId: actor.workspaceId, days, ...audit });
  if (rows.length === 0) throw notFound('Workspace');
  return { media_retention_days: days };
}
