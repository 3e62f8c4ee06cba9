import { bool, type Sql, statement } from '../db/statements.ts';

/** The advisory lock of the relay that is working. */
export const RELAY_LOCK = 'webhook relay';

const wait = statement('await-relay', {
  params: {},
  returns: { isLocked: bool },
  sql: `select pg_advisory_xact_lock(hashtext('${RELAY_LOCK}')) is not null as "isLocked"`,
});

/** Keeps every relay from taking events until the transaction ends. */
export async function stopRelay(sql: Sql): Promise<void> {
  await sql.run(wait, {});
}
