import { float, int, type Sql, statement, text, time } from '../../db/statements.ts';
import { emitAll } from '../../events/emit.ts';
import { itemDeleted } from './item-events.ts';

const deleteExpired = statement('delete-expired-items', {
  params: { workspaceId: int, expiry: time, max: int },
  returns: { id: int, name: text, mime_type: text, size: float },
  sql: `
    delete from library_items where workspace_id = $workspaceId and id in (
      select id from library_items where workspace_id = $workspaceId and created_at < $expiry
      order by created_at, id limit $max)
    returning id, name, mime_type, size::float8 as size`,
});

/**
 * Deletes up to `max` items that were added before `expiry`, oldest first, and emits `library_item.deleted`. A trigger
 * discards the files. Returns the IDs of the deleted items. Call it with the workspace locked.
 */
export async function deleteExpiredItems(
  sql: Sql,
  at: Date,
  { workspaceId, expiry, max }: { workspaceId: number; expiry: Date; max: number },
): Promise<number[]> {
  const rows = await sql.run(deleteExpired, { workspaceId, expiry, max });
  const events = rows.map((item) => itemDeleted(workspaceId, item, null));
  await emitAll(sql, at, events);
  return rows.map(({ id }) => id);
}
