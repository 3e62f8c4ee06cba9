import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, ints, json, nullable, oneOf, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { putBackItems } from '../library/trash-items.ts';
import { putBackRecordings } from '../recordings/trash-recordings.ts';
import { putBackRoom } from '../rooms/trash-rooms.ts';
import { kindsOf, minRoleOf, readEntries } from './read-entries.ts';
import { MAX_RECORDINGS_OF_ROOM, type RestoredEntries, type RestoreInput, type TrashKind } from './schemas.ts';

const storedEntries = statement('read-trash-records', {
  params: { workspaceId: int, entryIds: ints },
  returns: {
    id: int,
    kind: oneOf<TrashKind>(),
    fileKey: nullable(text),
    posterKey: nullable(text),
    createdBy: nullable(int),
    record: json<Readonly<Record<string, unknown>>>(),
    hasRoom: bool,
  },
  // With the recordings that came with a room. They are put back after it.
  sql: `
    select t.id, t.kind, t.file_key as "fileKey", t.poster_key as "posterKey", t.created_by as "createdBy", t.record,
      t.kind <> 'recording' or t.with_room or exists (
        select from rooms r where r.workspace_id = t.workspace_id and r.id = t.room_id) as "hasRoom"
    from trash_entries t
    where t.workspace_id = $workspaceId and (t.id = any($entryIds) or t.with_room and t.room_id in (
      select o.resource_id from trash_entries o
      where o.workspace_id = $workspaceId and o.kind = 'room' and o.id = any($entryIds)))
    order by t.id`,
});

/**
 * Restores the entries that exist, in one transaction: each gets its ID, its labels and its dates back, and a room its
 * recordings. Emits `library_item.uploaded` for each item and `room.created` for each room. The quotas counted the
 * trash, so they refuse nothing. Throws 409 if a room has another recording with the same archive ID meanwhile, if the
 * room of a recording lies in the trash itself, if another room has the session ID of one, and for too many recordings;
 * and 403 or 401 if the actor's role or session has ended.
 */
export function restoreEntries(
  services: Services,
  actor: Actor,
  { entry_ids }: RestoreInput,
): Promise<RestoredEntries> {
  const { workspaceId } = actor;
  return transact(services.db, async (tx) => {
    await lockWorkspaceAs(tx, actor, minRoleOf(kindsOf(actor)));
    const sql = sqlIn(tx);
    const entries = await readEntries(sql, actor, entry_ids);
    const now = services.clock.now();
    const stored = await sql.run(storedEntries, { workspaceId, entryIds: entries.map(({ id }) => id) });
    const recordings = stored.filter(({ kind }) => kind === 'recording');
    if (recordings.some(({ hasRoom }) => !hasRoom))
      throw conflict('The room of this recording is in the trash: restore the room first');
    if (recordings.length > MAX_RECORDINGS_OF_ROOM)
      throw conflict(`At most ${MAX_RECORDINGS_OF_ROOM} recordings are restored at once: restore one room at a time`);
    for (const { kind, ...room } of stored) if (kind === 'room') await putBackRoom(tx, now, actor, room);
    const items = stored.flatMap(({ kind, fileKey, createdBy: uploadedBy, ...entry }) =>
      kind === 'library_item' && fileKey !== null ? [{ ...entry, uploadedBy, fileKey }] : [],
    );
    if (items.length > 0) await putBackItems(tx, now, actor, items);
    await putBackRecordings(tx, now, actor, recordings);
    // Only now, so that the triggers find the rows that refer to the files again, and do not discard these.
    await tx.trashEntry.deleteMany({ where: { workspaceId, id: { in: stored.map(({ id }) => id) } } });
    return { entries, not_found: entry_ids.filter((id) => !entries.some((entry) => entry.id === id)) };
  });
}
