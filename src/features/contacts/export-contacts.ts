import { recordAudits } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { markByteOrder } from '../../core/byte-order-mark.ts';
import { secondsOf } from '../../db/columns.ts';
import { float, int, statement, text } from '../../db/statements.ts';
import { allowManyStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import type { ExportContactsQuery } from './schemas.ts';
import { type ContactCsvRow, writeContactsCsv } from './write-contacts-csv.ts';

const BATCH_SIZE = 200;

const nextContacts = statement('export-contacts', {
  params: { workspaceId: int, after: int, max: int },
  returns: { id: int, name: text, email: text, created_at: float },
  sql: `
    select id, name, email, ${secondsOf('created_at')} as created_at from contacts
    where workspace_id = $workspaceId and id > $after order by id limit $max`,
});

/**
 * Exports all contacts of the workspace as CSV, ordered by ID. Reads them only as fast as the caller consumes them.
 * Records the start of the export in the audit log.
 */
export function exportContacts(
  services: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { bom }: ExportContactsQuery,
): AsyncGenerator<Buffer, void, undefined> {
  return markByteOrder(writeContactsCsv(recordAndRead(services, actor)), bom);
}

async function* recordAndRead(services: Pick<Services, 'db' | 'clock'>, actor: Actor): AsyncGenerator<ContactCsvRow[]> {
  const { workspaceId } = actor;
  await recordAudits(services.db.sql, [
    {
      workspaceId,
      at: services.clock.now(),
      actor: auditActorOf(actor),
      action: 'contact.exported',
      target: { kind: 'contact', id: null },
    },
  ]);
  yield* readAllContacts(services, workspaceId);
}

/** Reads each batch with a separate statement, so that a slow caller does not occupy a database connection. */
async function* readAllContacts({ db }: Pick<Services, 'db'>, workspaceId: number): AsyncGenerator<ContactCsvRow[]> {
  let after = 0;
  for (;;) {
    const rows = await allowManyStatements(() => db.sql.run(nextContacts, { workspaceId, after, max: BATCH_SIZE }));
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_SIZE) return;
    after = last.id;
  }
}
