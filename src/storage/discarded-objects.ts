/**
 * Removes objects whose rows were deleted. When a row is deleted, a trigger writes its object key to
 * `discarded_objects` in the same transaction, for an upload in progress with what the store has of the object. The
 * object is removed right after the commit. If that fails, the removal job (`storage.remove-discarded`) tries again
 * every minute until it succeeds.
 */
import { runInBackground, runRepeatable } from '../core/call-bounds.ts';
import type { Log } from '../core/log.ts';
import { type Database, runWrite } from '../db/client.ts';
import { int, json, nullable, statement, text } from '../db/statements.ts';
import type { ObjectStore, PartialObject } from './object-store.ts';

type Dependencies = { db: Database; store: ObjectStore; log: Log };

/** `stored` is what the store has of an object that may not be complete; null for a complete object. */
type Discarded = { key: string; stored: PartialObject | null };

/** How many objects are removed at a time. */
const BATCH_SIZE = 20;
/** More objects of one call than this are removed in the background. */
const MAX_AWAITED = 20;
/** How long the removal of one object may take. */
const TIMEOUT_MS = 5_000;

const findDiscarded = statement('find-discarded-object', {
  params: { key: text },
  returns: { key: text },
  sql: 'select key from discarded_objects where key = $key',
});

const findBatch = statement('find-discarded-objects', {
  params: { after: text, limit: int },
  returns: { key: text, stored: nullable(json<PartialObject>()) },
  sql: 'select key, stored from discarded_objects where key > $after order by key limit $limit',
});

/** Whether the row of an object was deleted and its file has not been removed yet. */
export async function isDiscarded({ sql }: Database, key: string): Promise<boolean> {
  return (await sql.run(findDiscarded, { key })).length > 0;
}

/**
 * Removes one discarded object now, or with `stored` the bytes of an upload that was in progress. Never rejects: if the
 * store or the database fails or hangs, the key remains in `discarded_objects` for the next run of the removal job.
 */
export async function removeDiscardedObject(
  dependencies: Dependencies,
  key: string,
  stored: PartialObject | null = null,
): Promise<void> {
  try {
    await removeBatch(dependencies, [{ key, stored }]);
  } catch (error) {
    dependencies.log.warn({ err: error, key }, 'Failed to delete the record of a removed object; it will be retried');
  }
}

async function removeBatch(dependencies: Dependencies, batch: readonly Discarded[]): Promise<void> {
  const isRemoved = await Promise.all(batch.map((discarded) => tryToRemove(dependencies, discarded)));
  const removed = batch.filter((_, index) => isRemoved[index]).map(({ key }) => key);
  if (removed.length === 0) return;
  const where = { key: { in: removed } };
  // A call that removes objects was carried out before, or has failed.
  await runRepeatable(() => runWrite(dependencies.db, (tx) => tx.discardedObject.deleteMany({ where })));
}

async function tryToRemove({ store, log }: Dependencies, { key, stored }: Discarded): Promise<boolean> {
  try {
    if (stored !== null) await store.partial.discard(key, stored);
    // An upload that was being finished may have completed its object, to which no row refers.
    await store.remove(key, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return true;
  } catch (error) {
    log.warn({ err: error, key }, 'Failed to remove an object from the store; it will be retried');
    return false;
  }
}

/**
 * Removes all discarded objects in batches. An object that cannot be removed is left for the next run. Never rejects.
 */
export async function removeDiscardedObjects(dependencies: Dependencies): Promise<void> {
  try {
    for (let after = ''; ; ) {
      const batch = await dependencies.db.sql.run(findBatch, { after, limit: BATCH_SIZE });
      const last = batch.at(-1);
      if (!last) return;
      await removeBatch(dependencies, batch);
      after = last.key;
    }
  } catch (error) {
    dependencies.log.error({ err: error }, 'Failed to read the discarded objects');
  }
}

/**
 * Removes the objects of rows that a call has deleted: before it resolves, or in the background if there are many.
 * Never rejects; an object that cannot be removed is left for the removal job.
 */
export async function removeFilesOfCall(dependencies: Dependencies, keys: readonly string[]): Promise<void> {
  if (keys.length > MAX_AWAITED) startRemoval(dependencies);
  else await Promise.all(keys.map((key) => removeDiscardedObject(dependencies, key)));
}

/** Removes all discarded objects in the background. */
export function startRemoval(dependencies: Dependencies): void {
  void runInBackground(() => removeDiscardedObjects(dependencies));
}

/** Records objects without a row as discarded and removes them. The removal job retries those that fail. */
export async function discardObjects(dependencies: Dependencies, keys: readonly string[]): Promise<void> {
  const data = keys.map((key) => ({ key }));
  await runWrite(dependencies.db, (tx) => tx.discardedObject.createMany({ data, skipDuplicates: true }));
  for (let from = 0; from < keys.length; from += BATCH_SIZE)
    await removeBatch(
      dependencies,
      keys.slice(from, from + BATCH_SIZE).map((key) => ({ key, stored: null })),
    );
}
