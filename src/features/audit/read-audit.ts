/** Reads and verifies the audit log of a workspace. */
import type { Position } from '../../audit/check-entries.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import type { Actor } from '../../auth/identify.ts';
import { type Cursor, checksumOf, cursorValues, encodeCursor } from '../../core/cursor.ts';
import { badField } from '../../core/errors.ts';
import type { Page } from '../../core/list-page.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { int } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { filterParams, matchesFilters, toFilterParams } from './filters.ts';
import { entryColumns, entryFields, toAuditEntry } from './present.ts';
import type { AuditEntry, AuditVerification, ListAuditInput, VerifyAuditInput } from './schemas.ts';

const entriesOf = pagedList('list-audit-entries', {
  order: { ...byTime('a.created_at', 'a.id', 'desc'), idType: 'number' },
  params: { workspaceId: int, ...filterParams },
  returns: { ...entryFields, ...timeKey },
  sql: ({ after, window }) => `
    select ${entryColumns}, ${timeKeyOf('a.created_at')}
    from audit_log a
    where a.workspace_id = $workspaceId and ${matchesFilters}
      ${after}
    ${window}`,
});

/** Lists entries, newest first. */
export async function listAudit(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  { limit, offset, cursor, ...filters }: ListAuditInput,
): Promise<Page<AuditEntry>> {
  const params = { workspaceId, ...toFilterParams(filters) };
  const page = await readPage(db.sql, entriesOf, params, { limit, offset, cursor }, [workspaceId, params]);
  return { entries: page.entries.map(toAuditEntry), next_cursor: page.next_cursor };
}

const VERIFICATION = 'verify-audit';

/**
 * Checks at most 10,000 entries, starting after `after` or at the beginning of the log. Throws 400 for a position in
 * another log.
 */
export async function verifyAudit(
  services: Pick<Services, 'db' | 'sealer'>,
  { workspaceId }: Actor,
  { after }: VerifyAuditInput,
): Promise<AuditVerification> {
  const list = checksumOf(VERIFICATION, [workspaceId]);
  const from = after === undefined ? null : toPosition(list, after);
  const { problems, to, ...checked } = await verifyLog(services, workspaceId, from);
  return {
    is_valid: problems.length === 0 ? 1 : 0,
    is_complete: to.sequence >= checked.lastSequence ? 1 : 0,
    first_sequence: checked.from,
    checked_sequence: to.sequence,
    last_sequence: checked.lastSequence,
    pruned_sequence: checked.cutSequence,
    problems,
    position: encodeCursor({ list, key: to.sequence, id: to.hash }),
  };
}

function toPosition(list: number, { key, id, ...cursor }: Cursor): Position {
  if (cursor.list !== list || !cursorValues.number(key) || !/^(?:[0-9a-f]{64})?$/.test(String(id)))
    throw badField('after', 'after must be the position of an earlier verification');
  return { sequence: key, hash: String(id) };
}
