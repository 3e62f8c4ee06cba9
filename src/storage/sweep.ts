/**
 * Finds differences between the store and the database, and removes files to which no row refers. Failures cause such
 * differences: for example, a server is killed between the last byte of an upload and its commit, or the store is down
 * when a file is deleted.
 */
import type { Log } from '../core/log.ts';
import { type Clock, HOUR_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { type RowOf, statement, text, texts, time } from '../db/statements.ts';
import { OBJECT_KEY_PREFIX } from './create-object-key.ts';
import { discardObjects, removeDiscardedObjects } from './discarded-objects.ts';
import { inPages, PAGE_SIZE } from './in-pages.ts';
import { nameOfKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { claimStore, OTHER_OWNER, SELECT_OWNER } from './store-owner.ts';

type Dependencies = { db: Database; store: ObjectStore; clock: Clock; log: Log };

/** The result of a sweep. Orphans were removed. Rows without an object are only reported: nothing can restore them. */
export type SweepReport = { objects: number; orphans: number; rowsWithoutObject: number };

/**
 * No upload takes this long (`totalMs` in http/streaming-body.ts), so an older object without a row will never get one.
 */
const UNFINISHED_AGE_MS = 24 * HOUR_MS;
/** Sorts after every key in byte order. */
const AFTER_ALL_KEYS = '~';

const findReferenced = statement('find-referenced-objects', {
  params: { keys: texts },
  returns: { key: text },
  sql: 'select key from stored_objects where key = any($keys)',
});

const findNamesInProgress = statement('find-names-in-progress', {
  params: { names: texts },
  returns: { name: text },
  sql: `
    select name from uploads, substring(file_key from '[^/]*$') as name where result is null and name = any($names)`,
});

const readOwner = statement('read-store-owner', { params: {}, returns: { name: text }, sql: SELECT_OWNER });

/** Reads a page of rows with keys in (after, until], in the byte order of the keys. */
const readRows = statement('list-stored-objects', {
  params: { after: text, until: text },
  returns: { key: text, created_at: time },
  sql: `
    select key, created_at from stored_objects
    where key collate "C" > $after and key collate "C" <= $until
    order by key collate "C" limit ${PAGE_SIZE}`,
});

type Row = RowOf<typeof readRows>;

/**
 * Removes discarded objects, unfinished uploads, and objects older than a day that no row refers to. Reads the store
 * and the database in the order of the keys, one page at a time. Rejects if one of them cannot be read. Objects that
 * were already removed stay removed. It is safe to repeat, and to run concurrently. Removes nothing from the bucket of
 * another database.
 */
export async function sweepStorage({ db, store, clock, log }: Dependencies): Promise<SweepReport> {
  const report: SweepReport = { objects: 0, orphans: 0, rowsWithoutObject: 0 };
  if (store.owner !== undefined && !(await claimStore(store, await readName(db)))) {
    log.error({}, `The files are not swept. ${OTHER_OWNER}`);
    return report;
  }
  await removeDiscardedObjects({ db, store, log });
  const before = new Date(clock.now().getTime() - UNFINISHED_AGE_MS);
  await store.removeStaleUploads(before, (names) => findInProgress(db, names));

  let after = '';
  for await (const page of inPages(store.list(OBJECT_KEY_PREFIX))) {
    const until = page.length < PAGE_SIZE ? AFTER_ALL_KEYS : (page.at(-1)?.key ?? AFTER_ALL_KEYS);
    const unreferenced = new Map(page.map((object) => [object.key, object]));
    for await (const rows of rowPages(db, after, until)) {
      // Rows are read after the objects were listed, so the object of a new row may be missing from the list.
      const missing = rows.filter((row) => !unreferenced.delete(row.key) && row.created_at < before);
      if (missing.length === 0) continue;
      log.error({ keys: missing.map(({ key }) => key) }, 'Objects are missing from the store');
      report.rowsWithoutObject += missing.length;
    }
    const old = [...unreferenced.values()].filter(({ modifiedAt }) => modifiedAt < before).map(({ key }) => key);
    const orphans = await findOrphans(db, old);
    await discardObjects({ db, store, log }, orphans);
    report.orphans += orphans.length;
    report.objects += page.length;
    after = until;
  }
  log.info(report, 'Swept the store');
  return report;
}

/** Returns those of the keys that neither an upload in progress nor a row refers to. */
async function findOrphans(db: Database, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const inProgress = await findInProgress(db, keys.map(nameOfKey));
  // Read after the uploads: one that was completed in the meantime has a row now.
  const rows = await db.sql.run(findReferenced, { keys });
  const referenced = new Set(rows.map(({ key }) => key));
  return keys.filter((key) => !inProgress.has(nameOfKey(key)) && !referenced.has(key));
}

/** Returns those of the names that belong to uploads that clients may still continue. */
async function findInProgress(db: Database, names: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.sql.run(findNamesInProgress, { names });
  return new Set(rows.map(({ name }) => name));
}

async function readName(db: Database): Promise<string> {
  const [row] = await db.sql.run(readOwner, {});
  return row?.name ?? '';
}

/** Yields the rows with keys in (after, until], in pages, in the byte order of the keys. */
async function* rowPages(db: Database, after: string, until: string): AsyncGenerator<Row[]> {
  for (let last: string | undefined = after; last !== undefined; ) {
    const rows: Row[] = await db.sql.run(readRows, { after: last, until });
    yield rows;
    last = rows.length < PAGE_SIZE ? undefined : rows.at(-1)?.key;
  }
}
