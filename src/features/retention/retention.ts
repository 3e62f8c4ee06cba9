/** The retention policy of a workspace. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { retryDeadlocks } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { Retention } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** The policy. Throws 404 for a workspace that was deleted meanwhile. */
export async function readRetention({ db }: Db, { workspaceId }: Actor): Promise<Retention> {
  const row = await db.workspace.findUnique({ where: { id: workspaceId }, select: { mediaRetentionDays: true } });
  if (row === null) throw notFound('Workspace');
  // The column has a check for exactly these numbers.
  return Retention.parse({ media_retention_days: row.mediaRetentionDays });
}

/** Sets the policy; the next sweep goes by it. Throws 404 for a workspace that was deleted meanwhile. */
export async function setRetention(
  { db }: Db,
  { workspaceId }: Actor,
  { media_retention_days }: Retention,
): Promise<Retention> {
  const data = { mediaRetentionDays: media_retention_days };
  const { count } = await retryDeadlocks(() => db.workspace.updateMany({ where: { id: workspaceId }, data }));
  if (count === 0) throw notFound('Workspace');
  return { media_retention_days };
}
