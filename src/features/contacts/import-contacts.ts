import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { runRepeatable } from '../../core/call-bounds.ts';
import { badField } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, texts, time } from '../../db/statements.ts';
import { allowManyStatements } from '../../db/time-limits.ts';
import { requireContactsWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { createdEvents } from './contact-parts.ts';
import { type ParsedRow, parseContactsCsv } from './parse-contacts-csv.ts';
import { type ImportAnswer, MAX_INVALID_ROWS, MAX_LISTED_PROBLEMS, MAX_ROWS } from './schemas.ts';

const BATCH_SIZE = 500;
/** Rows to process in one turn of the event loop. This takes a few milliseconds, even if every row is invalid. */
const ROWS_PER_TURN = 100;

type Row = { name: string; email: string };

/**
 * Assigns IDs in the order of the file. Inserts the rows in the order of their addresses, so that concurrent
 * transactions that create contacts do not deadlock. Skips existing addresses before the insert, because an insert that
 * hits a conflict wastes an ID, and IDs are 32-bit.
 */
const addMissing = statement('import-missing-contacts', {
  params: { workspaceId: int, names: texts, emails: texts, at: time },
  returns: { id: int },
  sql: `
    with added as (
      insert into contacts (workspace_id, id, name, email, created_at)
      select $workspaceId, n.id, n.name, n.email, $at
      from (
        select nextval(pg_get_serial_sequence('contacts', 'id')) as id, m.name, m.email
        from (
          select n.name, n.email from unnest($names, $emails) with ordinality n (name, email, position)
          where not exists (select from contacts c where c.workspace_id = $workspaceId and c.email = n.email)
          order by n.position) m) n
      order by n.email
      on conflict (workspace_id, email) do nothing returning workspace_id, id, name, email),
    ${createdEvents}
    select id from added`,
});

const renameAll = statement('rename-imported-contacts', {
  plansAnew: true,
  params: { workspaceId: int, names: texts, emails: texts },
  sql: `
    update contacts c set name = n.name from unnest($names, $emails) n (name, email)
    where c.workspace_id = $workspaceId and c.email = n.email and c.name <> n.name`,
});

/**
 * Imports contacts from a CSV file (see `parseContactsCsv`). Existing contacts get the name from the file. The result
 * counts every row as created, updated or skipped. Emits `contact.created` for each new contact.
 *
 * Each batch is a transaction. After a failure, the earlier batches remain, and the same file can be imported again.
 * Throws 400 if the file cannot be parsed, or has more than 100,000 rows or more than 1,000 invalid rows. Throws 403 as
 * soon as the actor is no longer owner or admin, 404 as soon as the workspace is deleted, and 409 if a batch would
 * exceed the quota.
 */
export async function importContacts(
  services: Pick<Services, 'db' | 'clock' | 'settings'>,
  actor: Actor,
  file: AsyncIterable<Buffer>,
): Promise<ImportAnswer> {
  const result: ImportAnswer = { created: 0, updated: 0, skipped: [], skipped_count: 0 };
  let batch: Row[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const created = await importBatch(services, actor, batch);
    result.created += created;
    result.updated += batch.length - created;
    batch = [];
  };
  for await (const row of readRows(file)) {
    if ('problem' in row) {
      result.skipped_count += 1;
      if (result.skipped_count > MAX_INVALID_ROWS) throw tooManyInvalidRows();
      if (result.skipped.length < MAX_LISTED_PROBLEMS) result.skipped.push(row);
      continue;
    }
    batch.push({ name: row.name, email: row.email });
    if (batch.length === BATCH_SIZE) await flush();
  }
  await flush();
  return result;
}

/** Imports a batch in one transaction. Returns the number of created contacts. Throws 404 and 403. */
async function importBatch(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  actor: Actor,
  rows: readonly Row[],
): Promise<number> {
  // If an address occurs several times, the last row wins.
  const distinct = [...new Map(rows.map((row) => [row.email, row])).values()];
  const importAll = () =>
    transact(db, async (tx) => {
      await lockWorkspaceAs(tx, actor, 'admin');
      const created = await upsertAll(tx, actor.workspaceId, clock.now(), distinct);
      if (created > 0) await requireContactsWithinQuota(sqlIn(tx), settings.quotas, actor.workspaceId);
      return created;
    });
  return runRepeatable(() => allowManyStatements(importAll));
}

/** Creates or renames the contacts. Returns the number of created contacts. */
async function upsertAll(tx: Tx, workspaceId: number, at: Date, rows: readonly Row[]): Promise<number> {
  const values = { workspaceId, names: rows.map(({ name }) => name), emails: rows.map(({ email }) => email) };
  const sql = sqlIn(tx);
  const created = await sql.run(addMissing, { ...values, at });
  // Runs last, so that it also finds contacts that were created in the meantime.
  await sql.run(renameAll, values);
  return created.length;
}

/** Parses the rows of a file, and regularly yields to the event loop. Throws 400 if there are too many rows. */
async function* readRows(file: AsyncIterable<Buffer>): AsyncGenerator<ParsedRow, void, undefined> {
  let count = 0;
  for await (const row of parseContactsCsv(file)) {
    count += 1;
    if (count > MAX_ROWS) throw badField('', `The file has more than ${MAX_ROWS.toLocaleString('en')} rows`);
    if (count % ROWS_PER_TURN === 0) await yieldToEventLoop();
    yield row;
  }
}

function tooManyInvalidRows() {
  return badField('', `The file has more than ${MAX_INVALID_ROWS.toLocaleString('en')} invalid rows`);
}
