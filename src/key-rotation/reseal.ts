/**
 * Seals values again with the newest key if an earlier key sealed them, so that the earlier key can be removed. This
 * runs in the background while more than one key is configured. It changes nothing else.
 */
import type { Log } from '../core/log.ts';
import { HEADER_BYTES, type Sealer, type SealPurpose, sealHeaderOf } from '../core/sealing.ts';
import type { Database } from '../db/client.ts';
import { bool, bytes, int, statement, text } from '../db/statements.ts';
import { attempt } from './attempt.ts';
import { resealPendingCallbacks } from './pending-callbacks.ts';
import { listSealedColumns, ownerOf, type SealedColumn, toSealContext } from './sealed-columns.ts';

/** How many pages of a table one statement reads: at most a few hundred rows. */
const PAGES = 16;

export type ResealResult = {
  resealed: number;
  /** The number of values that no configured key opens. They remain unchanged. */
  failed: number;
};

type Dependencies = { db: Database; sealer: Sealer; log: Log };

const countPages = statement('count-table-pages', {
  params: { name: text },
  returns: { pages: int },
  sql: `
    select (pg_relation_size($name::regclass) / current_setting('block_size')::int)::int as pages`,
});

const columns = listSealedColumns().map((column) => ({ ...column, ...declare(column) }));

/**
 * `replace` finds a row by its physical location in the table (`ctid`). If another transaction has updated the row
 * since it was read, the old value is no longer there, and the statement skips the row. Either the other transaction
 * has sealed its value with the newest key, or the next pass finds the value.
 */
function declare(column: SealedColumn) {
  const { table, column: name } = column;
  return {
    read: statement(`read-sealed-${table}-${name}`, {
      params: { first: text, end: text, header: bytes },
      returns: { place: text, owner: text, sealed: bytes },
      sql: `
    select ctid::text as place, ${ownerOf(column)} as owner, ${name} as sealed from ${table}
    where ctid >= $first::tid and ctid < $end::tid and substring(${name} from 1 for ${HEADER_BYTES}) <> $header`,
    }),
    replace: statement(`reseal-${table}-${name}`, {
      params: { place: text, sealed: bytes, resealed: bytes },
      returns: { isDone: bool },
      sql: `
    update ${table} set ${name} = $resealed where ctid = $place::tid and ${name} = $sealed returning true as "isDone"`,
    }),
  };
}

/** Seals the values again, one row after another. Does nothing if only one key is configured. */
export async function resealSecrets({ db, sealer, log }: Dependencies): Promise<ResealResult> {
  const [newest, ...others] = sealer.keyIds;
  const total: ResealResult = { resealed: 0, failed: 0 };
  if (newest === undefined || others.length === 0) return total;
  const header = sealHeaderOf(newest);
  for (const column of columns) {
    const failures: string[] = [];
    const [{ pages } = { pages: 0 }] = await db.sql.run(countPages, { name: column.table });
    for (let page = 0; page < pages; page += PAGES) {
      const range = { first: `(${page},0)`, end: `(${page + PAGES},0)` };
      for (const { place, owner, sealed } of await db.sql.run(column.read, { ...range, header })) {
        const context = toSealContext(column, column.purpose, owner);
        const opened = attempt(() => sealer.open(sealed, context));
        if (opened instanceof Error) failures.push(opened.message);
        else {
          const resealed = sealer.seal(opened, context);
          total.resealed += (await db.sql.run(column.replace, { place, sealed, resealed })).length;
        }
      }
    }
    report(log, column, failures);
    total.failed += failures.length;
  }
  const callbacks = await resealPendingCallbacks({ db, sealer });
  report(log, { table: 'ingest_events', column: 'facts', purpose: 'recording link' }, callbacks.failures);
  total.resealed += callbacks.resealed;
  total.failed += callbacks.failures.length;
  if (total.resealed > 0) log.info(total, 'Sealed secrets again with the newest encryption key');
  return total;
}

function report(
  log: Log,
  { table, column, purpose }: SealedColumn & { purpose: SealPurpose },
  failures: string[],
): void {
  const [reason] = failures;
  if (reason === undefined) return;
  const what = { table, column, purpose, count: failures.length, reason };
  log.error(what, 'Some sealed values cannot be opened: list their key in ENCRYPTION_KEY_PREVIOUS');
}
