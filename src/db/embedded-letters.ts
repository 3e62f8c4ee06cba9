/** Repairs embedded databases that were created with LC_CTYPE C, for which only the letters of ASCII are letters. */
import { CTYPE } from '@lynxroom/embedded-postgres';
import pg from 'pg';
import type * as core from '../core/log.ts';
import { describeError } from './connect.ts';
import { isInvalidParameter } from './errors.ts';
import { onlyRow } from './only-row.ts';

type Log = Pick<core.Log, 'info' | 'warn'>;

/** The condition that a row of `pg_index` is an index on trigrams. */
const ON_TRIGRAMS = `EXISTS (
  SELECT FROM pg_opclass o WHERE o.opcname = 'gin_trgm_ops' AND o.oid = ANY (indclass::oid[]))`;

/**
 * Sets the LC_CTYPE of the database and rebuilds its indexes on trigrams, which lack all other letters. Sorting and
 * lower case stay the same. Nobody else may use the database at the same time. If the process is killed, the next call
 * completes the repair: the indexes that are still to be rebuilt are marked as invalid, and so not used. Does nothing
 * if the operating system does not have the locale.
 */
export async function repairLetters(superuserUrl: string, log: Log): Promise<void> {
  const isRepaired = await withClient(superuserUrl, async (client) => {
    const { rows } = await client.query<{ hasLetters: boolean; isRebuilt: boolean }>(`
      SELECT datctype <> 'C' AS "hasLetters",
        NOT EXISTS (SELECT FROM pg_index WHERE NOT indisvalid AND ${ON_TRIGRAMS}) AS "isRebuilt"
      FROM pg_database WHERE datname = current_database()`);
    const { hasLetters, isRebuilt } = onlyRow(rows);
    return hasLetters ? isRebuilt : !(await changeCtype(client, log));
  });
  // On a new connection, because a connection keeps the LC_CTYPE with which it was opened.
  if (!isRepaired) await withClient(superuserUrl, (client) => rebuildIndexes(client, log));
}

/** Changes the LC_CTYPE and marks the indexes, in one transaction. Returns false if the locale is missing. */
async function changeCtype(client: pg.Client, log: Log): Promise<boolean> {
  try {
    await client.query(`
      BEGIN;
      CREATE COLLATION pg_temp.existing_locale (provider = libc, lc_collate = 'C', lc_ctype = '${CTYPE}');
      UPDATE pg_database SET datctype = '${CTYPE}' WHERE datname = current_database();
      UPDATE pg_index SET indisvalid = false WHERE ${ON_TRIGRAMS};
      COMMIT`);
    return true;
  } catch (error) {
    // The operating system does not have the locale.
    if (!isInvalidParameter(error)) throw error;
    log.warn({ reason: describeError(error) }, 'Searches for other letters than those of ASCII remain slow');
    return false;
  }
}

async function rebuildIndexes(client: pg.Client, log: Log): Promise<void> {
  log.info({}, 'Rebuilding the search indexes of the embedded database');
  const { rows } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid AND ${ON_TRIGRAMS}`,
  );
  for (const { name } of rows) await client.query(`REINDEX INDEX ${name}`);
}

async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
