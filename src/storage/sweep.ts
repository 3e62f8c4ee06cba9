/**
 * Brings the store and the database together again after anything that went wrong in between: a server killed between
 * an upload's last byte and its commit, a store that was down when a file was deleted.
 */
import type { Log } from '../core/log.ts';
import { type Clock, HOUR_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { OBJECT_KEY_PREFIX } from './create-object-key.ts';
import { removeDiscardedObject, removeDiscardedObjects } from './discarded-objects.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

type Needs = { db: Database; store: ObjectStore; clock: Clock; log: Log };

/** What a sweep found: orphans are removed; rows without their object are only reported, there is nothing to do. */
export type SweepReport = { objects: number; orphans: number; rowsWithoutObject: number };

/** An upload takes less than this, so an older object without a row will never get one. */
const UNFINISHED_AGE_MS = 24 * HOUR_MS;
const PAGE = 500;

const pages = async function* (objects: AsyncIterable<StoredObject>): AsyncGenerator<StoredObject[]> {
  let page: StoredObject[] = [];
  for await (const object of objects) {
    page.push(object);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
};

/** The keys that rows refer to, in (after, until]; `until` null: to the end. */
const keysOfRows = async (db: Database, after: string, until: string | null): Promise<Map<string, Date>> => {
  const rows = await db.$queryRaw<{ key: string; created_at: Date }[]>`
    select key, created_at from stored_objects
    where key collate "C" > ${after} and (${until}::text is null or key collate "C" <= ${until})`;
  return new Map(rows.map((row) => [row.key, row.created_at]));
};

/**
 * Removes what was discarded, what uploads left unfinished, and objects older than a day that no row refers to. Both
 * sides are walked in the order of their keys, a page at a time.
 */
export const sweepStorage = async ({ db, store, clock, log }: Needs): Promise<SweepReport> => {
  await removeDiscardedObjects({ db, store, log });
  const before = new Date(clock.now().getTime() - UNFINISHED_AGE_MS);
  await store.removeStaleUploads(before);

  const report: SweepReport = { objects: 0, orphans: 0, rowsWithoutObject: 0 };
  let after = '';
  for await (const page of pages(store.list(OBJECT_KEY_PREFIX))) {
    const isLast = page.length < PAGE;
    const until = isLast ? null : (page.at(-1)?.key ?? null);
    const rows = await keysOfRows(db, after, until);
    for (const { key, modifiedAt } of page) {
      if (rows.delete(key) || modifiedAt >= before) continue;
      await db.discardedObject.createMany({ data: { key }, skipDuplicates: true });
      await removeDiscardedObject({ db, store, log }, key);
      report.orphans += 1;
    }
    // Rows are read after the listing: one that is younger than the page may be of an object that is not in it.
    for (const [key, createdAt] of rows) {
      if (createdAt >= before) continue;
      log.error({ key }, 'A file is missing from the store');
      report.rowsWithoutObject += 1;
    }
    report.objects += page.length;
    after = until ?? after;
  }
  log.info(report, 'Swept the store');
  return report;
};
