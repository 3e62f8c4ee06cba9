/** The retention policy of a workspace. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { runWrite } from '../../db/client.ts';
import { int, type SqlType, statement } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { Retention } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** A check constraint limits the column to these values. */
const policy: SqlType<Retention['media_retention_days']> = { name: 'int4' };

const policyOf = statement('read-retention', {
  params: { workspaceId: int },
  returns: { media_retention_days: policy },
  sql: 'select media_retention_days from workspaces where id = $workspaceId',
});

/** Reads the policy. Throws 404 if the workspace was deleted. */
export async function readRetention({ db }: Db, { workspaceId }: Actor): Promise<Retention> {
  const [retention] = await db.sql.run(policyOf, { workspaceId });
  if (!retention) throw notFound('Workspace');
  return retention;
}

/** Sets the policy, which the next sweep applies. Throws 404 if the workspace was deleted. */
export async function setRetention(
  { db }: Db,
  { workspaceId }: Actor,
  { media_retention_days }: Retention,
): Promise<Retention> {
  const data = { mediaRetentionDays: media_retention_days };
  const { count } = await runWrite(db, (tx) => tx.workspace.updateMany({ where: { id: workspaceId }, data }));
  if (count === 0) throw notFound('Workspace');
  return { media_retention_days };
}
