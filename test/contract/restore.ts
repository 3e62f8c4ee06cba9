/** Bringing the rows of every table back, so that many writes can be tried on one world. */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { type Dump, dumpTables } from '../support/dump.ts';
import type { TestApp } from '../support/test-app.ts';

export type Restorer = {
  /** The rows as they were when this was made. */
  rows: Dump;
  /** Brings them back; resolves with whether they were other ones. */
  restore(): Promise<boolean>;
  close(): Promise<void>;
};

/** Remembers every row of every table and every stored file. Sequences go on; what was stored since stays. */
export async function rememberRows(app: TestApp): Promise<Restorer> {
  const rows = await dumpTables(app);
  const [files, remembered] = [join(app.filesDir, 'objects'), join(app.filesDir, 'remembered')];
  await cp(files, remembered, { recursive: true });
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  // Neither foreign keys nor triggers: the rows fit together, and their sums are among them.
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
        await client.query(`insert into ${name} select * from json_populate_recordset(null::${name}, $1)`, [
          JSON.stringify(rows[table]),
        ]);
      }
      await client.query('commit');
      await cp(remembered, files, { recursive: true, force: false });
      return true;
    },
    async close() {
      await client.end();
      await rm(remembered, { recursive: true });
    },
  };
}
