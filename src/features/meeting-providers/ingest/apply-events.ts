/** Applying what was received, at once and, where that failed, by the clock; and forgetting it in the end. */

import { lockWorkspaceIfExists } from '../../../auth/workspace-lock.ts';
import { DAY_MS } from '../../../core/time.ts';
import { retryDeadlocks, transact } from '../../../db/client.ts';
import type { Services } from '../../../services.ts';
import { applyFact } from './apply-facts.ts';
import { openFacts } from './sealed-facts.ts';

/** Longer than any provider repeats a callback, and than any signature is good. */
const KEPT_MS = 7 * DAY_MS;
const MAX_AT_ONCE = 1_000;

export type IngestKey = { workspaceId: number; connectionId: number; dedupeKey: string };

type Needs = Pick<Services, 'db' | 'clock' | 'log' | 'sealer'>;

/**
 * Applies one callback and marks it applied, all of it or nothing. One that is applied already, is being applied, or is
 * gone, is left alone.
 */
export async function applyEvent(services: Needs, { workspaceId, connectionId, dedupeKey }: IngestKey): Promise<void> {
  return transact(services.db, async (tx) => {
    // Everything that facts touch stands behind this row; a workspace that is gone has no callbacks either.
    if ((await lockWorkspaceIfExists(tx, workspaceId)) === null) return;
    const [event] = await tx.$queryRaw<{ facts: unknown }[]>`
      select facts from ingest_events
      where workspace_id = ${workspaceId} and connection_id = ${connectionId} and dedupe_key = ${dedupeKey}
        and applied_at is null
      for update skip locked`;
    if (!event) return;
    const now = services.clock.now();
    const { log, sealer } = services;
    const context = { tx, now, log, sealer, workspaceId, connectionId };
    for (const fact of openFacts(sealer, workspaceId, event.facts)) await applyFact(context, fact);
    await tx.ingestEvent.update({
      where: { workspaceId_connectionId_dedupeKey: { workspaceId, connectionId, dedupeKey } },
      data: { appliedAt: now },
      select: { dedupeKey: true },
    });
  });
}

/**
 * Applies what is stored and was not applied, at most `most`, first what was not tried for longest. What fails again is
 * logged, and stays for another time.
 */
export async function applyUnapplied(services: Needs, max = MAX_AT_ONCE): Promise<void> {
  for (const event of await takeUnapplied(services, max)) {
    await applyEvent(services, event).catch((error: unknown) =>
      services.log.error(
        { err: error, workspaceId: event.workspaceId, connectionId: event.connectionId },
        'A callback could not be applied: it is tried again',
      ),
    );
  }
}

/**
 * Takes the next callbacks that are not applied. They go to the end of the queue by it, whatever becomes of them: however
 * many fail each time, and however they fail, the others have their turn.
 */
function takeUnapplied({ db, clock }: Needs, max: number): Promise<IngestKey[]> {
  return db.$queryRaw<IngestKey[]>`
  update ingest_events set tried_at = ${clock.now()}
  where (workspace_id, connection_id, dedupe_key) in
    (select workspace_id, connection_id, dedupe_key from ingest_events where applied_at is null
     order by tried_at nulls first, received_at limit ${max} for update skip locked)
  returning workspace_id as "workspaceId", connection_id as "connectionId", dedupe_key as "dedupeKey"`;
}

/** Deletes callbacks that were applied and are older than a week. What is not applied yet is kept. */
export async function pruneIngestEvents({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const until = new Date(clock.now().getTime() - KEPT_MS);
  for (;;) {
    const deleted = await retryDeadlocks(
      () => db.$executeRaw`
        delete from ingest_events where (workspace_id, connection_id, dedupe_key) in
          (select workspace_id, connection_id, dedupe_key from ingest_events
           where received_at < ${until} and applied_at is not null limit ${MAX_AT_ONCE})`,
    );
    if (deleted < MAX_AT_ONCE) return;
  }
}
