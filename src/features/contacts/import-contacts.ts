/** Contacts from a CSV file: those that are new come in, those that are there get their new names. */
import { setImmediate as giveWay } from 'node:timers/promises';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { type ParsedRow, parseContactsCsv } from './parse-contacts-csv.ts';
import { type ImportAnswer, MAX_BAD_ROWS, MAX_NAMED_PROBLEMS, MAX_ROWS } from './schemas.ts';

const BATCH = 500;
/** Rows to work off in one turn of the event loop: a few milliseconds, also where each one is bad. */
const ROWS_IN_A_TURN = 100;

type Row = { name: string; email: string };

/**
 * Imports a CSV file (see `parseContactsCsv`) as it streams in, a batch a transaction: what was written before a failure
 * stays, and the same file may be sent again. Every row counts as created, updated or skipped. Throws 400
 * for what cannot be read on, for more than 100,000 rows and for more than 1,000 that are no contact, and 404 and 403 for
 * an actor who may not (any more).
 */
export async function importContacts(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  file: AsyncIterable<Buffer>,
): Promise<ImportAnswer> {
  const answer: ImportAnswer = { created: 0, updated: 0, skipped: [], skipped_count: 0 };
  let batch: Row[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const created = await importBatch(services, actor, batch);
    answer.created += created;
    answer.updated += batch.length - created;
    batch = [];
  };
  for await (const row of readRows(file)) {
    if ('problem' in row) {
      answer.skipped_count += 1;
      if (answer.skipped_count > MAX_BAD_ROWS) throw tooManyBadRows();
      if (answer.skipped.length < MAX_NAMED_PROBLEMS) answer.skipped.push(row);
      continue;
    }
    batch.push({ name: row.name, email: row.email });
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return answer;
}

/** Writes a batch in a transaction of its own. Throws 404 and 403 for who may not (any more). */
async function importBatch(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  rows: readonly Row[],
): Promise<number> {
  // Of one address the last name counts.
  const distinct = [...new Map(rows.map((row) => [row.email, row])).values()];
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    return upsertAll(tx, actor.workspaceId, clock.now(), distinct);
  });
}

/** Brings in one contact an address, in the order of the file. Returns how many were new. */
async function upsertAll(tx: Tx, workspaceId: number, at: Date, rows: readonly Row[]): Promise<number> {
  const names = rows.map(({ name }) => name);
  const emails = rows.map(({ email }) => email);
  // What every new contact waits for, taken first: until the commit nobody adds one of these addresses. So none is
  // inserted in vain: an insert takes an id even where it only finds a conflict, and ids are 32-bit.
  await tx.$executeRaw`select lock_contact_sums(${workspaceId}::int)`;
  await tx.$executeRaw`
    update contacts c set name = n.name from unnest(${names}::text[], ${emails}::text[]) n (name, email)
    where c.workspace_id = ${workspaceId} and c.email = n.email and c.name <> n.name`;
  return tx.$executeRaw`
    insert into contacts (workspace_id, name, email, created_at)
    select ${workspaceId}::int, n.name, n.email, ${at}
    from unnest(${names}::text[], ${emails}::text[]) with ordinality n (name, email, position)
    where not exists (select from contacts c where c.workspace_id = ${workspaceId} and c.email = n.email)
    order by n.position`;
}

/** The rows of a file, some at a time between what others have to do. Throws 400 for one row more than a file may have. */
async function* readRows(file: AsyncIterable<Buffer>): AsyncGenerator<ParsedRow, void, undefined> {
  let count = 0;
  for await (const row of parseContactsCsv(file)) {
    count += 1;
    if (count > MAX_ROWS) throw badField('', `The file has more than ${MAX_ROWS.toLocaleString('en')} rows`);
    if (count % ROWS_IN_A_TURN === 0) await giveWay();
    yield row;
  }
}

function tooManyBadRows() {
  return badField('', `The file has more than ${MAX_BAD_ROWS.toLocaleString('en')} rows that are no contact`);
}
