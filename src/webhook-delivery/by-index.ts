import type { SqlDatabase } from '../db/sql.ts';
import { type Sql, type Statement, statement, text } from '../db/statements.ts';

const preferIndexes = statement('prefer-indexes', {
  params: {},
  returns: { settings: text },
  sql: `
    select concat(set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true)) as settings`,
});

/**
 * Runs `work` in a transaction in which PostgreSQL looks up rows in indexes. By default, PostgreSQL plans a prepared
 * statement once, often while the tables are still small, and uses that plan as they grow. A plan that reads whole
 * tables becomes slower as more messages wait. `settings` is a statement that disables such plans, for this transaction
 * only. It may also change other settings.
 */
export function transactByIndex<Result>(
  db: SqlDatabase,
  work: (sql: Sql) => Promise<Result>,
  settings: Statement<Record<never, never>, unknown> = preferIndexes,
): Promise<Result> {
  return db.transact(async (sql) => {
    // Awaited, so that only `settings` is sent together with BEGIN. A statement that is sent with BEGIN must not write
    // (`transact` in db/sql.ts), and `work` may write.
    await sql.run(settings, {});
    return work(sql);
  });
}
