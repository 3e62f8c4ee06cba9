/** Exports the audit log of a workspace as a file: the entries that match the filters, oldest first. */
import { recordAudits } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { markByteOrder } from '../../core/byte-order-mark.ts';
import { float, int, statement } from '../../db/statements.ts';
import { allowManyStatements } from '../../db/time-limits.ts';
import type { Services } from '../../services.ts';
import { escapeFormula } from '../contacts/escape-formulas.ts';
import { filterParams, matchesFilters, toFilterParams } from './filters.ts';
import { entryColumns, entryFields, toAuditEntry } from './present.ts';
import type { AuditCsvQuery, AuditEntry, AuditFilters } from './schemas.ts';

const BATCH_SIZE = 200;

type Dependencies = Pick<Services, 'db' | 'clock'>;

const nextEntries = statement('export-audit-entries', {
  params: { workspaceId: int, after: float, max: int, ...filterParams },
  returns: entryFields,
  sql: `
    select ${entryColumns} from audit_log a
    where a.workspace_id = $workspaceId and a.id > $after::bigint and ${matchesFilters}
    order by a.id limit $max`,
});

/** Exports the log as CSV. `before` and `after` contain JSON. */
export function exportAuditCsv(
  services: Dependencies,
  actor: Actor,
  { bom, ...filters }: AuditCsvQuery,
): AsyncGenerator<Buffer, void, undefined> {
  return markByteOrder(writeAuditCsv(readAllEntries(services, actor, 'csv', filters)), bom);
}

async function* writeAuditCsv(batches: AsyncIterable<AuditEntry[]>): AsyncGenerator<Buffer, void, undefined> {
  const { stringify } = await import('csv-stringify/sync');
  let hasHeader = false;
  for await (const entries of batches) {
    const options = { columns: CSV_COLUMNS, header: !hasHeader, cast: { string: escapeFormula } };
    yield Buffer.from(
      stringify(entries.map(toCsvRow), { ...options, record_delimiter: '\r\n', quote_record_delimiter: true }),
    );
    hasHeader = true;
  }
}

/** Exports the log as JSON, one entry per line. */
export async function* exportAuditLines(
  services: Dependencies,
  actor: Actor,
  filters: AuditFilters,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const entries of readAllEntries(services, actor, 'jsonl', filters))
    yield Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

/**
 * Logs the export with its filters, then reads batches as fast as the caller consumes them, each with a separate
 * statement. Yields at least one batch, which may be empty.
 */
async function* readAllEntries(
  { db, clock }: Dependencies,
  actor: Actor,
  format: string,
  filters: AuditFilters,
): AsyncGenerator<AuditEntry[], void, undefined> {
  const { workspaceId } = actor;
  const target = { kind: 'audit_log', id: null } as const;
  const entry = { workspaceId, at: clock.now(), actor: auditActorOf(actor), target, after: { format, ...filters } };
  await recordAudits(db.sql, [{ ...entry, action: 'audit_log.exported' }]);
  const params = { workspaceId, max: BATCH_SIZE, ...toFilterParams(filters) };
  let after = 0;
  for (;;) {
    const rows = await allowManyStatements(() => db.sql.run(nextEntries, { ...params, after }));
    yield rows.map(toAuditEntry);
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_SIZE) return;
    after = last.id;
  }
}

const CSV_COLUMNS = [
  'sequence',
  'id',
  'created_at',
  'actor_kind',
  'actor_user_id',
  'actor_key_id',
  'actor_name',
  'actor_address',
  'action',
  'target_kind',
  'target_id',
  'target_name',
  'before',
  'after',
  'is_erased',
  'hash',
];

function toCsvRow({ actor, target, before, after, ...entry }: AuditEntry) {
  return {
    ...entry,
    actor_kind: actor.kind,
    actor_user_id: actor.user_id,
    actor_key_id: actor.key_id,
    actor_name: actor.name,
    actor_address: actor.address,
    target_kind: target.kind,
    target_id: target.id,
    target_name: target.name,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  };
}
