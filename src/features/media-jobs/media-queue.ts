/** The queue of files that a worker still has to look at. */
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { int, nullable, statement, text } from '../../db/statements.ts';
import { backoffMs, declareQueue, type Lease } from '../../jobs/lease-queue.ts';
import { LeaseLost } from '../../jobs/worker.ts';
import type { Services } from '../../services.ts';
import { createObjectKey } from '../../storage/create-object-key.ts';

/** If a process is killed, another takes over when the lease expires. */
export const MEDIA_LEASE_MS = MINUTE_MS;
const BACKOFF = { firstMs: 5 * SECOND_MS, maxMs: 5 * MINUTE_MS };

const key = { workspaceId: { column: 'workspace_id', type: int }, id: { column: 'id', type: int } };
const columns = {
  itemId: { column: 'item_id', type: nullable(int) },
  recordingId: { column: 'recording_id', type: nullable(int) },
};

/** One workspace with many files, of which each may take long, does not keep the others waiting. */
export const mediaJobs = declareQueue({ name: 'media-job', table: 'media_jobs', key, columns, fairBy: 'workspace_id' });

/** A file that this process may look at. */
export type MediaLease = Lease<typeof key, typeof columns>;

/**
 * Names the object that a job writes, before it is written, and discards that of an attempt before: its process may
 * have been killed, or may still be writing. Returns no row if another process has the lease.
 */
const nameOutput = statement('name-output-of-media-job', {
  params: { workspaceId: int, id: int, attempt: int, outputKey: text },
  returns: { outputKey: text },
  sql: `
    with previous as (
      select workspace_id, id, output_key from media_jobs
      where workspace_id = $workspaceId and id = $id and attempts = $attempt for update),
    discarded as (
      insert into discarded_objects (key) select output_key from previous where output_key is not null
      on conflict do nothing)
    update media_jobs j set output_key = $outputKey
    from previous p where j.workspace_id = p.workspace_id and j.id = p.id returning j.output_key as "outputKey"`,
});

type Db = Pick<Services, 'db' | 'clock'>;

/** Leases the next file that is due; null if none is. */
export async function leaseMediaJob({ db, clock }: Db): Promise<MediaLease | null> {
  const now = clock.now();
  const leasedUntil = new Date(now.getTime() + MEDIA_LEASE_MS);
  return (await mediaJobs.lease(db.sql, { now, leasedUntil, max: 1 }))[0] ?? null;
}

/** Returns the key of the object that the job writes. Throws LeaseLost. */
export async function nameMediaOutput(
  { db }: Pick<Db, 'db'>,
  { workspaceId, id, attempt }: MediaLease,
): Promise<string> {
  const outputKey = createObjectKey(workspaceId, 'recordings');
  const [row] = await db.sql.run(nameOutput, { workspaceId, id, attempt, outputKey });
  if (!row) throw new LeaseLost();
  return row.outputKey;
}

/** Ends a lease. The backoff doubles from 5 seconds to 5 minutes; `isFailed` is false if nothing went wrong. */
export async function releaseMediaJob(
  { db, clock }: Db,
  lease: MediaLease,
  { isFailed }: { isFailed: boolean },
): Promise<void> {
  const delayMs = isFailed ? backoffMs(lease.attempt, BACKOFF) : 0;
  await mediaJobs.release(db.sql, lease, new Date(clock.now().getTime() + delayMs));
}
