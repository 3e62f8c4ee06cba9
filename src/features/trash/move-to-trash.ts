import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import type { CopyObject } from '../../storage/copy-slots.ts';
import { discardObjects, removeFilesOfCall } from '../../storage/discarded-objects.ts';
import { addEntries, type NewTrashEntry } from './add-entries.ts';
import { commitCopies, copyFiles, type Files, keysOf } from './copy-files.ts';
import { minRoleOf, readEntries } from './read-entries.ts';
import type { TrashEntry, TrashKind } from './schemas.ts';

type Move<Found extends Files> = {
  /** What is moved. A room takes its recordings with it. */
  kind: TrashKind;
  ids: readonly number[];
  /** Finds the files of those that exist. */
  find: (ids: readonly number[]) => Promise<Found[]>;
  /** Deletes the rows that still have these files, and returns what they were, with the keys that they had. */
  take: (tx: Tx, at: Date, files: readonly Found[]) => Promise<NewTrashEntry[]>;
  /** Called once the entries are added. */
  finish?: (tx: Tx, at: Date) => Promise<void>;
};

type Moved = { entries: TrashEntry[]; not_found: number[] };

/**
 * Moves to the trash what exists, in one transaction. The download URLs stop working before this resolves, or later if
 * there are many files or the store is unavailable. Throws 500 if the store cannot copy a file, 429 or 503 if too many
 * files are being copied, and 403 or 401 if the actor's role or session has ended meanwhile.
 */
export function moveToTrash<Found extends Files>(services: Services, actor: Actor, move: Move<Found>): Promise<Moved> {
  return services.copies.run(services.store, actor.workspaceId, (copy) => moveWith(services, copy, actor, move));
}

async function moveWith<Found extends Files>(
  services: Services,
  copyObject: CopyObject,
  actor: Actor,
  { kind, ids, find, take, finish }: Move<Found>,
): Promise<Moved> {
  const { workspaceId } = actor;
  const exists = async ({ id }: Files) => (await find([id])).length > 0;
  const copies = await copyFiles(services, copyObject, workspaceId, await find(ids), exists);
  const copyOf = new Map(copies.map((copy) => [copy.from.id, copy]));
  const { entries, used, replaced } = await commitCopies(services, workspaceId, copies, () =>
    transact(services.db, async (tx) => {
      // The triggers that count rows lock the workspace after the rows. Locking it first avoids deadlocks.
      await lockWorkspaceAs(tx, actor, minRoleOf([kind]));
      const at = services.clock.now();
      const files = copies.map(({ from }) => from);
      const taken = await take(tx, at, files);
      const moved = taken.flatMap((entry) => {
        if (entry.kind === 'room') return [entry];
        const copy = copyOf.get(entry.resourceId);
        if (copy === undefined) return [];
        // The poster may have been replaced since it was copied.
        const posterKey = copy.from.posterKey === entry.posterKey ? copy.posterKey : null;
        return [{ ...entry, fileKey: copy.fileKey, posterKey }];
      });
      const entryIds = await addEntries(tx, at, actor, moved);
      await finish?.(tx, at);
      return {
        entries: await readEntries(sqlIn(tx), actor, entryIds),
        used: new Set(moved.flatMap(keysOf)),
        replaced: taken.flatMap(keysOf),
      };
    }),
  );
  const unused = copies.flatMap(keysOf).filter((key) => !used.has(key));
  if (unused.length > 0) await discardObjects(services, unused);
  await removeFilesOfCall(services, replaced);
  const moved = new Set(entries.map(({ resource_id }) => resource_id));
  return { entries, not_found: ids.filter((id) => !moved.has(id)) };
}
