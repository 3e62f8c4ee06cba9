import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, ints, json, nullable, oneOf, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { putBackItems } from '../library/trash-items.ts';
import { putBackRecordings } from '../recordings/trash-recordings.ts';
import { readEntries } from './read-entries.ts';
import type { RestoredEntries, RestoreInput, TrashKind } from './schemas.ts';

const storedEntries = statement('read-trash-records', {
  params: { workspaceId: int, entryIds: ints },
  returns: {
    kind: oneOf<TrashKind>(),
    fileKey: nullable(text),
    posterKey: nullable(text),
    uploadedBy: nullable(int),
    record: json<Readonly<Record<string, unknown>>>(),
  },
  sql: `
    select kind, file_key as "fileKey", poster_key as "posterKey", created_by as "uploadedBy", record from trash_entries
    where workspace_id = $workspaceId and id = any($entryIds) order by id`,
});

/**
 * Restores the entries that exist, in one transaction: each gets its ID, its labels and its dates back. Emits
 * `library_item.uploaded` for each item. The quotas counted the trash, so they refuse nothing. Throws 409 if a room has
 * another recording with the same archive ID meanwhile.
 */
export function restoreEntries(
  services: Services,
  actor: Actor,
  { entry_ids }: RestoreInput,
): Promise<RestoredEntries> {
  const { workspaceId } = actor;
  return transact(services.db, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const sql = sqlIn(tx);
    const entries = await readEntries(sql, actor, entry_ids);
    const entryIds = entries.map(({ id }) => id);
    const now = services.clock.now();
    const stored = await sql.run(storedEntries, { workspaceId, entryIds });
    const items = stored.flatMap(({ kind, fileKey, ...entry }) =>
      kind === 'library_item' && fileKey !== null ? [{ ...entry, fileKey }] : [],
    );
    if (items.length > 0) await putBackItems(tx, now, actor, items);
    await putBackRecordings(
      tx,
      now,
      actor,
      stored.filter(({ kind }) => kind === 'recording'),
    );
    // Only now, so that the trigger finds the rows that refer to the files again, and does not discard these.
    await tx.trashEntry.deleteMany({ where: { workspaceId, id: { in: entryIds } } });
    return { entries, not_found: entry_ids.filter((id) => !entryIds.includes(id)) };
  });
}
