/** Restores the rows of every table, so that many writes can be tried in one world. */
import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { type Dump, dumpTables } from '../support/dump.ts';
import type { TestApp } from '../support/test-app.ts';

export type Restorer = {
  /** The rows when the restorer was created. */
  rows: Dump;
  /** Restores the rows and the stored files. Resolves with whether any row had changed. */
  restore(): Promise<boolean>;
  close(): Promise<void>;
};

/** `last` is null before the first use. */
type Sequence = { name: string; last: string | null };

/** The columns of each table that can be inserted. */
const LIST_COLUMNS = `select c.relname as table, string_agg(quote_ident(a.attname), ', ') as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  group by c.relname`;

const SET_SEQUENCES = `select setval(name, coalesce(last, 1), last is not null)
  from unnest($1::text[], $2::bigint[]) as saved (name, last)`;

/**
 * Saves every row of every table, the sequences of the ids, and every stored file. Files that are added later remain.
 * Without the sequences, a call that is made in only one of two equal worlds would give later rows different ids.
 */
export async function saveRows(app: TestApp): Promise<Restorer> {
  const rows = await dumpTables(app);
  const [files, saved] = [join(app.filesDir, 'objects'), join(app.filesDir, 'saved')];
  await cp(files, saved, { recursive: true });
  const client = new pg.Client({ connectionString: app.superuserUrl });
  await client.connect();
  const sequences = await client.query<Sequence>(
    'select sequencename as name, last_value as last from pg_sequences where schemaname = current_schema',
  );
  const listed = await client.query<{ table: string; columns: string }>(LIST_COLUMNS);
  const columnsOf = new Map(listed.rows.map(({ table, columns }) => [table, columns]));
  // Turns off foreign keys and triggers. The saved rows are consistent, including the counters of the triggers.
  await client.query('set session_replication_role = replica');
  return {
    rows,
    async restore() {
      const now = await dumpTables(app);
      const changed = Object.keys(rows).filter((table) => !isDeepStrictEqual(now[table], rows[table]));
      if (changed.length === 0) return false;
      await client.query('begin');
      for (const table of changed) {
        const name = client.escapeIdentifier(table);
        await client.query(`delete from ${name}`);
        const columns = columnsOf.get(table);
        await client.query(
          `insert into ${name} (${columns}) select ${columns} from json_populate_recordset(null::${name}, $1)`,
          [JSON.stringify(rows[table])],
        );
      }
      await client.query(SET_SEQUENCES, [
        sequences.rows.map(({ name }) => client.escapeIdentifier(name)),
        sequences.rows.map(({ last }) => last),
      ]);
      await client.query('commit');
      await addMissing(saved, files);
      return true;
    },
    async close() {
      await client.end();
      await rm(saved, { recursive: true });
    },
  };
}

/** Copies the files that `to` lacks. */
async function addMissing(from: string, to: string): Promise<void> {
  const present = new Set(await readdir(to, { recursive: true }));
  const isMissing = (await readdir(from, { recursive: true })).some((path) => !present.has(path));
  if (isMissing) await cp(from, to, { recursive: true, force: false });
}
