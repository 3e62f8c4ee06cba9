/** The queue of files that a worker still has to look at, and the leases that processes hold meanwhile. */
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { int, nullable, type RowOf, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { createObjectKey } from '../../storage/create-object-key.ts';

/** If a process is killed, another takes over when the lease expires. */
const LEASE_MS = MINUTE_MS;
/** A third of the lease, so that one failed renewal does not lose it. */
export const RENEWAL_MS = 20 * SECOND_MS;
const FIRST_BACKOFF_MS = 5 * SECOND_MS;
const MAX_BACKOFF_MS = 5 * MINUTE_MS;

/**
 * Leases the file that has been due for longest, of the workspace with the fewest: one workspace with many files, of
 * which each may take long, does not keep the others waiting.
 */
const leaseStatement = statement('lease-media-job', {
  params: { now: time, leasedUntil: time },
  returns: {
    workspaceId: int,
    id: int,
    itemId: nullable(int),
    recordingId: nullable(int),
    attempt: int,
  },
  sql: `
    with waiting as (
      select workspace_id, count(*) as jobs from media_jobs where next_attempt_at <= $now group by workspace_id),
    due as (
      select j.workspace_id, j.id from media_jobs j join waiting w on w.workspace_id = j.workspace_id
      where j.next_attempt_at <= $now and (j.leased_until is null or j.leased_until <= $now)
      order by w.jobs, j.next_attempt_at, j.id limit 1 for update of j skip locked)
    update media_jobs j set leased_until = $leasedUntil, attempts = j.attempts + 1
    from due where j.workspace_id = due.workspace_id and j.id = due.id
    returning j.workspace_id as "workspaceId", j.id, j.item_id as "itemId", j.recording_id as "recordingId",
      j.attempts as attempt`,
  hasChanged: (rows) => rows.length > 0,
});

/** A file that this process may look at. `attempt` (1, 2, ...) also identifies the lease. */
export type MediaLease = RowOf<typeof leaseStatement>;

const renewStatement = statement('renew-media-job', {
  params: { workspaceId: int, id: int, attempt: int, leasedUntil: time },
  returns: { id: int },
  sql: `
    update media_jobs set leased_until = $leasedUntil
    where workspace_id = $workspaceId and id = $id and attempts = $attempt returning id`,
});

const releaseStatement = statement('release-media-job', {
  params: { workspaceId: int, id: int, attempt: int, nextAttemptAt: time },
  sql: `
    update media_jobs set leased_until = null, next_attempt_at = $nextAttemptAt
    where workspace_id = $workspaceId and id = $id and attempts = $attempt`,
});

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

/** Another process has the lease, or the file was deleted. */
export class MediaLeaseLost extends Error {}

type Db = Pick<Services, 'db' | 'clock'>;

export async function leaseMediaJob({ db, clock }: Db): Promise<MediaLease | null> {
  const now = clock.now();
  const [lease] = await db.sql.run(leaseStatement, { now, leasedUntil: new Date(now.getTime() + LEASE_MS) });
  return lease ?? null;
}

/** Throws MediaLeaseLost if another process has the lease. */
export async function renewMediaLease({ db, clock }: Db, { workspaceId, id, attempt }: MediaLease): Promise<void> {
  const leasedUntil = new Date(clock.now().getTime() + LEASE_MS);
  const [row] = await db.sql.run(renewStatement, { workspaceId, id, attempt, leasedUntil });
  if (!row) throw new MediaLeaseLost('Another process has the lease');
}

/** Returns the key of the object that the job writes. Throws MediaLeaseLost. */
export async function nameMediaOutput(
  { db }: Pick<Db, 'db'>,
  { workspaceId, id, attempt }: MediaLease,
): Promise<string> {
  const outputKey = createObjectKey(workspaceId, 'recordings');
  const [row] = await db.sql.run(nameOutput, { workspaceId, id, attempt, outputKey });
  if (!row) throw new MediaLeaseLost('Another process has the lease');
  return row.outputKey;
}

/** Ends a lease. The backoff doubles from 5 seconds to 5 minutes; `isFailed` is false if nothing went wrong. */
export async function releaseMediaJob(
  { db, clock }: Db,
  { workspaceId, id, attempt }: MediaLease,
  { isFailed }: { isFailed: boolean },
): Promise<void> {
  const backoffMs = isFailed ? Math.min(FIRST_BACKOFF_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS) : 0;
  const nextAttemptAt = new Date(clock.now().getTime() + backoffMs);
  await db.sql.run(releaseStatement, { workspaceId, id, attempt, nextAttemptAt });
}
