/**
 * Objects whose rows are gone. Deleting a row writes its key into `discarded_objects` in the same transaction (by a
 * trigger); from there they are removed right after the commit, and again by the sweep until the store has done it.
 */
import type { Log } from '../core/log.ts';
import type { Database } from '../db/client.ts';
import type { ObjectStore } from './object-store.ts';

type Needs = { db: Database; store: ObjectStore; log: Log };

const BATCH = 100;
/** A request does not wait longer for the store; the sweep does the rest. */
const PATIENCE_MS = 5_000;

/** Removes one discarded object now; a store that fails or hangs is only logged, since the sweep comes back to it. */
export const removeDiscardedObject = async ({ db, store, log }: Needs, key: string): Promise<void> => {
  try {
    await store.remove(key, { signal: AbortSignal.timeout(PATIENCE_MS) });
    await db.discardedObject.deleteMany({ where: { key } });
  } catch (error) {
    log.warn({ err: error, key }, 'A deleted file could not be removed from the store yet');
  }
};

/** Removes all discarded objects, in batches. A key that fails is passed over until the next time. Never rejects. */
export const removeDiscardedObjects = async ({ db, store, log }: Needs): Promise<void> => {
  let after = '';
  try {
    for (;;) {
      const batch = await db.discardedObject.findMany({
        where: { key: { gt: after } },
        orderBy: { key: 'asc' },
        take: BATCH,
      });
      const last = batch.at(-1);
      if (!last) return;
      for (const { key } of batch) await removeDiscardedObject({ db, store, log }, key);
      after = last.key;
    }
  } catch (error) {
    log.error({ err: error }, 'Discarded objects could not be read');
  }
};
