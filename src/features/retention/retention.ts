/** The retention policy of a workspace. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { retryDeadlocks } from '../../db/errors.ts';
import type { Services } from '../../services.ts';
import { Retention } from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** Reads the policy. Throws 404 if the workspace was deleted. */
export async function readRetention({ db }: Db, { workspaceId }: Actor): Promise<Retention> {
  const row = await db.workspace.findUnique({ where: { id: workspaceId }, select: { mediaRetentionDays: true } });
  if (row === null) throw notFound('Workspace');
  // A check constraint limits the column to the values of the schema.
  return Retention.parse({ media_retention_days: row.mediaRetentionDays });
}

/** Sets the policy, which the next sweep applies. Throws 404 if the workspace was deleted. */
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
