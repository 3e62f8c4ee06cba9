/** Deletes old entries of the audit logs. */

import type { Log } from '../core/log.ts';
import type { Sealer } from '../core/sealing.ts';
import { DAY_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { inBatches } from '../db/in-batches.ts';
import { float, int, type Sql, statement, time } from '../db/statements.ts';
import { awaitChains, readChains, writeChains } from './chain-statements.ts';
import { checkEntries, PAGE_SIZE, type Problem, readEntries } from './check-entries.ts';

const MAX_WORKSPACES = 100;

const oldLogs = statement('find-old-audit-logs', {
  params: { after: int, before: time },
  returns: { workspaceId: int },
  sql: `
    select c.workspace_id as "workspaceId" from audit_chains c cross join lateral (
      select created_at from audit_log where workspace_id = c.workspace_id and sequence > c.cut_sequence
      order by sequence limit 1) f
    where c.workspace_id > $after and f.created_at < $before
    order by c.workspace_id limit ${MAX_WORKSPACES}`,
});

const deleteEntries = statement('delete-audit-entries', {
  params: { workspaceId: int, cutSequence: float },
  sql: 'delete from audit_log where workspace_id = $workspaceId and sequence <= $cutSequence::bigint',
});

type Services = { db: Database; sealer: Sealer; log: Log };

/**
 * Deletes the entries at the beginning of each log that are older than `days`, and returns their number. The sealed
 * state records the last of them with its hash, so that verification continues after it. The entries are checked first:
 * if they were tampered with, they are not deleted, and an error is logged. 0 days: entries are never deleted.
 */
export async function pruneAudit(services: Services, now: Date, days: number): Promise<number> {
  if (days === 0) return 0;
  const before = new Date(now.getTime() - days * DAY_MS);
  let pruned = 0;
  for (let after = 0, isMore = true; isMore; ) {
    const found = await services.db.sql.run(oldLogs, { after, before });
    for (const { workspaceId } of found) {
      pruned += await inBatches(PAGE_SIZE, () => pruneBatch(services, workspaceId, before));
      after = workspaceId;
    }
    isMore = found.length === MAX_WORKSPACES;
  }
  services.log.info({ pruned }, 'Pruned audit logs');
  return pruned;
}

function pruneBatch({ db, sealer, log }: Services, workspaceId: number, before: Date): Promise<number> {
  return db.sql.transact(async (sql) => {
    await awaitChains(sql);
    const [chain] = await readChains(sql, sealer, [workspaceId]);
    const state = chain?.state ?? null;
    const problems: Problem[] = [];
    if (state === null) problems.push({ sequence: 0, problem: 'end changed' });
    else {
      const { cutSequence, cutHash, lastSequence } = state;
      const old = await readOldEntries(sql, workspaceId, { after: cutSequence, last: lastSequence }, before);
      const cut = checkEntries({ sequence: cutSequence, hash: cutHash }, old, problems);
      if (problems.length === 0 && old.length > 0) {
        await writeChains(sql, sealer, [
          { workspaceId, state: { ...state, cutSequence: cut.sequence, cutHash: cut.hash } },
        ]);
        await sql.run(deleteEntries, { workspaceId, cutSequence: cut.sequence });
        return old.length;
      }
    }
    if (problems.length > 0)
      log.error(
        { workspace: workspaceId, problems },
        'The audit log of a workspace was tampered with: it is not pruned',
      );
    return 0;
  });
}

/** The next entries, up to the first that is not old. */
async function readOldEntries(sql: Sql, workspaceId: number, range: { after: number; last: number }, before: Date) {
  const entries = await readEntries(sql, workspaceId, range);
  const end = entries.findIndex(({ created_at }) => created_at >= before);
  return end === -1 ? entries : entries.slice(0, end);
}
