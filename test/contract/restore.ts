/** Bringing the rows of every table back, so that many writes can be tried on one world. */
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

/** Remembers every row of every table. Sequences go on; what the store holds stays as it is. */
export const rememberRows = async (app: TestApp): Promise<Restorer> => {
  const rows = await dumpTables(app);
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
      return true;
    },
    close: () => client.end(),
  };
};
