/**
 * Brings the store and the database together again after anything that went wrong in between: a server killed between
 * an upload's last byte and its commit, a store that was down when a file was deleted.
 */
import type { Log } from '../core/log.ts';
import { type Clock, HOUR_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { OBJECT_KEY_PREFIX } from './create-object-key.ts';
import { discardObjects, removeDiscardedObjects } from './discarded-objects.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

type Needs = { db: Database; store: ObjectStore; clock: Clock; log: Log };

/** What a sweep found: orphans are removed; rows without their object are only reported, there is nothing to do. */
export type SweepReport = { objects: number; orphans: number; rowsWithoutObject: number };

/** An upload takes less than this (`totalMs` in src/http/streaming-body.ts), so an older object without a row will never get one. */
const UNFINISHED_AGE_MS = 24 * HOUR_MS;
const PAGE = 500;
/** In byte order after every character of a key. */
const PAST_ALL_KEYS = '~';

type Row = { key: string; created_at: Date };

/**
 * Removes what was discarded, what uploads left unfinished, and objects older than a day that no row refers to. Both
 * sides are walked in the order of their keys, a page at a time. Rejects when a side cannot be read; what was found
 * until then is done. Safe to repeat and to run twice at once.
 */
export async function sweepStorage({ db, store, clock, log }: Needs): Promise<SweepReport> {
  await removeDiscardedObjects({ db, store, log });
  const before = new Date(clock.now().getTime() - UNFINISHED_AGE_MS);
  await store.removeStaleUploads(before);

  const report: SweepReport = { objects: 0, orphans: 0, rowsWithoutObject: 0 };
  let after = '';
  for await (const page of pages(store.list(OBJECT_KEY_PREFIX))) {
    const until = page.length < PAGE ? PAST_ALL_KEYS : (page.at(-1)?.key ?? PAST_ALL_KEYS);
    const unclaimed = new Map(page.map((object) => [object.key, object]));
    for await (const rows of rowPages(db, after, until)) {
      // Rows are read after the listing: one that is younger than the page may be of an object that is not in it.
      const missing = rows.filter((row) => !unclaimed.delete(row.key) && row.created_at < before);
      if (missing.length === 0) continue;
      log.error({ keys: missing.map(({ key }) => key) }, 'Files are missing from the store');
      report.rowsWithoutObject += missing.length;
    }
    const orphans = [...unclaimed.values()].filter(({ modifiedAt }) => modifiedAt < before).map(({ key }) => key);
    await discardObjects({ db, store, log }, orphans);
    report.orphans += orphans.length;
    report.objects += page.length;
    after = until;
  }
  log.info(report, 'Swept the store');
  return report;
}

async function* pages(objects: AsyncIterable<StoredObject>): AsyncGenerator<StoredObject[]> {
  let page: StoredObject[] = [];
  for await (const object of objects) {
    page.push(object);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

/** What the rows with keys in (after, until] refer to, a page at a time, in the byte order of the keys. */
async function* rowPages(db: Database, after: string, until: string): AsyncGenerator<Row[]> {
  for (let last: string | undefined = after; last !== undefined; ) {
    const rows: Row[] = await db.$queryRaw<Row[]>`
      select key, created_at from stored_objects
      where key collate "C" > ${last} and key collate "C" <= ${until}
      order by key collate "C" limit ${PAGE}`;
    yield rows;
    last = rows.length < PAGE ? undefined : rows.at(-1)?.key;
  }
}
