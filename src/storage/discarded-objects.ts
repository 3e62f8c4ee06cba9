/**
 * Objects whose rows are gone. Deleting a row writes its key into `discarded_objects` in the same transaction (by a
 * trigger); from there they are removed right after the commit, and again by the sweep until the store has done it.
 */
import type { Log } from '../core/log.ts';
import type { Database } from '../db/client.ts';
import type { ObjectStore } from './object-store.ts';

type Needs = { db: Database; store: ObjectStore; log: Log };

/** So many at once are asked of the store, and forgotten in one statement. */
const BATCH = 20;
/** A request does not wait longer for the store; the sweep does the rest. */
const TIMEOUT_MS = 5_000;

/**
 * Removes one discarded object now. Never rejects: where the store or the database fails or hangs, the key stays among
 * the discarded and the next run comes back to it.
 */
export async function removeDiscardedObject(needs: Needs, key: string): Promise<void> {
  try {
    await removeBatch(needs, [key]);
  } catch (error) {
    needs.log.warn({ err: error, key }, 'A deleted file could not be forgotten yet');
  }
}

async function removeBatch(needs: Needs, keys: readonly string[]): Promise<void> {
  const isRemoved = await Promise.all(keys.map((key) => tryToRemove(needs, key)));
  const removed = keys.filter((_, index) => isRemoved[index]);
  if (removed.length > 0) await needs.db.discardedObject.deleteMany({ where: { key: { in: removed } } });
}

async function tryToRemove({ store, log }: Needs, key: string): Promise<boolean> {
  try {
    await store.remove(key, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return true;
  } catch (error) {
    log.warn({ err: error, key }, 'A deleted file could not be removed from the store yet');
    return false;
  }
}

/** Removes all discarded objects, in batches. A key that fails is passed over until the next time. Never rejects. */
export async function removeDiscardedObjects(needs: Needs): Promise<void> {
  try {
    for (let after = ''; ; ) {
      const batch = await needs.db.discardedObject.findMany({
        where: { key: { gt: after } },
        orderBy: { key: 'asc' },
        take: BATCH,
      });
      const last = batch.at(-1);
      if (!last) return;
      await removeBatch(
        needs,
        batch.map(({ key }) => key),
      );
      after = last.key;
    }
  } catch (error) {
    needs.log.error({ err: error }, 'Discarded objects could not be read');
  }
}

/** Notes objects without a row as discarded, and removes them: what fails here is tried again like any other. */
export async function discardObjects(needs: Needs, keys: readonly string[]): Promise<void> {
  await needs.db.discardedObject.createMany({ data: keys.map((key) => ({ key })), skipDuplicates: true });
  for (let from = 0; from < keys.length; from += BATCH) await removeBatch(needs, keys.slice(from, from + BATCH));
}
