import type { Actor } from '../../auth/identify.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { allowManyStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import { type ContactCsvRow, writeContactsCsv } from './write-contacts-csv.ts';

const BATCH_SIZE = 500;

/** Exports all contacts of the workspace as CSV, ordered by id. Reads them only as fast as the caller consumes them. */
export function exportContacts(
  services: Pick<Services, 'db'>,
  { workspaceId }: Actor,
): AsyncGenerator<Buffer, void, undefined> {
  return writeContactsCsv(readAllContacts(services, workspaceId));
}

/** Reads each batch with a separate statement, so that a slow caller does not hold a database connection. */
async function* readAllContacts({ db }: Pick<Services, 'db'>, workspaceId: number): AsyncGenerator<ContactCsvRow[]> {
  let after = 0;
  for (;;) {
    const where = { workspaceId, id: { gt: after } };
    const select = { id: true, name: true, email: true, createdAt: true };
    const rows = await allowManyStatements(() =>
      db.contact.findMany({ where, select, orderBy: { id: 'asc' }, take: BATCH_SIZE }),
    );
    yield rows.map(({ createdAt, ...row }) => ({ ...row, created_at: toUnixSeconds(createdAt) }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_SIZE) return;
    after = last.id;
  }
}
