/** The queue of files to copy from providers, and the leases that processes hold while they copy. */

import { lockWorkspace } from '../../../auth/workspace-lock.ts';
import type { Sealer } from '../../../core/sealing.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { type Database, runWrite, type Tx, transact } from '../../../db/client.ts';
import { notify } from '../../../db/notify.ts';
import { onlyRow } from '../../../db/only-row.ts';
import { sqlIn } from '../../../db/sql.ts';
import { bool, bytes, int, nullable, type Sql, statement, text, time } from '../../../db/statements.ts';
import { backoffMs } from '../../../jobs/lease-queue.ts';
import type { Services } from '../../../services.ts';
import { advanceRecording, type RecordingKey } from '../../recordings/recording-lifecycle.ts';

/** The NOTIFY channel that wakes the copiers. */
export const COPY_CHANNEL = 'lynxroom_copies';

/** How long failed copies are retried, even if the URL is valid for longer. */
const MAX_LIFETIME_MS = DAY_MS;
/**
 * The limit per user, across all workspaces that they own and all processes, so that slow servers of one user leave
 * slots for other users.
 */
const MAX_LEASES_PER_OWNER = 3;
/** A file is urgent if its URL expires within this time. Vonage's URLs are valid for 10 minutes. */
const URGENT_MS = 15 * MINUTE_MS;
/** Copiers poll twice within this time, so a file that has been due for longer must be waiting for a slot. */
const WAITING_MS = 10 * SECOND_MS;
/** The advisory lock that is held while leases are granted, so that concurrent calls count each other's leases. */
const LEASE_LOCK = 'lynxroom_claim_copies';
/** If a process is killed, another takes over when the lease expires. */
export const COPY_LEASE_MS = MINUTE_MS;
const BACKOFF = { firstMs: 5 * SECOND_MS, maxMs: 5 * MINUTE_MS };
/** For failures that hardly pass, some of which are noticed only after most of the file has arrived. */
const LONG_BACKOFF = { ...BACKOFF, maxMs: HOUR_MS };
/** How many of the files that are due first are looked at for the time of the next poll. */
const MAX_READ = 100;

export type CopyKey = { workspaceId: number; recordingId: number };

/**
 * A file that this process may copy. `attempt` (1, 2, ...) also identifies the lease, because each new lease gets a
 * higher number.
 */
export type CopyLease = CopyKey &
  RecordingKey & {
    sealedUrl: Uint8Array;
    deadline: Date;
    attempt: number;
    isOwnStorage: boolean;
    isUrgent: boolean;
  };

/**
 * A file to copy. `isOwnStorage` means that the file is in the customer's own storage and remains there, so the
 * recording does not fail if the file cannot be fetched.
 */
type NewCopy = { url: string; expiresAt: Date | null; isOwnStorage: boolean };

/**
 * `reason` is shown with the recording. `isLasting` means that another attempt will hardly succeed. `isWrongFile` means
 * that a file was fetched but is not a recording.
 */
export type CopyFailure = { reason: string; isLasting?: boolean; isWrongFile?: boolean };

const addStatement = statement('add-recording-copy', {
  params: {
    workspaceId: int,
    recordingId: int,
    sealedUrl: bytes,
    deadline: time,
    expiresAt: nullable(time),
    now: time,
    isOwnStorage: bool,
  },
  returns: { recordingId: int },
  sql: `
    insert into recording_copies
      (workspace_id, recording_id, sealed_url, deadline, expires_at, next_attempt_at, is_own_storage)
    values ($workspaceId, $recordingId, $sealedUrl, $deadline, $expiresAt, $now, $isOwnStorage)
    on conflict (workspace_id, recording_id) do update set
      sealed_url = excluded.sealed_url, deadline = excluded.deadline, expires_at = excluded.expires_at,
      next_attempt_at = excluded.next_attempt_at, is_own_storage = excluded.is_own_storage, last_error = null
    where recording_copies.deadline < excluded.deadline or recording_copies.last_error is not null
      or recording_copies.next_attempt_at is null
    returning recording_id as "recordingId"`,
});

/**
 * Queues a file and wakes a copier when the transaction commits. The deadline is when the URL expires, but at most a
 * day from now. If the recording already has a URL, the new one replaces it if its deadline is later, if the last
 * attempt with the earlier URL failed, or if the file is no longer tried. Returns whether the new URL is queued.
 */
export async function addCopy(
  { tx, now, sealer }: { tx: Tx; now: Date; sealer: Sealer },
  key: CopyKey,
  { url, expiresAt, isOwnStorage }: NewCopy,
): Promise<boolean> {
  const sealedUrl = sealer.seal(url, { workspaceId: key.workspaceId, purpose: 'recording link' });
  const deadline = toDeadline(now, expiresAt);
  const sql = sqlIn(tx);
  const added = await sql.run(addStatement, { ...key, sealedUrl, deadline, expiresAt, now, isOwnStorage });
  await notifyCopiers(sql);
  return added.length > 0;
}

/** Returns when a file is tried for the last time if it is tried from now on. */
export function toDeadline(now: Date, expiresAt: Date | null): Date {
  const latest = now.getTime() + MAX_LIFETIME_MS;
  return new Date(Math.min(expiresAt?.getTime() ?? latest, latest));
}

/** Wakes the copiers, in a transaction when it commits. */
export async function notifyCopiers(sql: Sql): Promise<void> {
  await notify(sql, COPY_CHANNEL);
}

/** Returns the URL of the file. Throws if the URL was sealed with a different key. */
export function openUrl(sealer: Sealer, { workspaceId, sealedUrl }: CopyLease): string {
  return sealer.open(sealedUrl, { workspaceId, purpose: 'recording link' });
}

/** Removes a file from the queue, unless it is no longer tried. */
export async function removeCopy(db: Database, { workspaceId, recordingId }: CopyKey): Promise<void> {
  const where = { workspaceId, recordingId, NOT: { nextAttemptAt: null } };
  await runWrite(db, (tx) => tx.recordingCopy.deleteMany({ where }));
}

const lockLeases = statement('lock-leases-of-copies', {
  params: {},
  returns: { isLocked: bool },
  sql: `select pg_advisory_xact_lock(hashtext('${LEASE_LOCK}')) is not null as "isLocked"`,
});

const leaseStatement = statement('lease-recording-copies', {
  params: { now: time, urgentUntil: time, leasedUntil: time, max: int, maxNotUrgent: int },
  returns: {
    workspaceId: int,
    recordingId: int,
    roomId: int,
    archiveId: text,
    sealedUrl: bytes,
    deadline: time,
    attempt: int,
    isOwnStorage: bool,
    isUrgent: bool,
  },
  sql: `
    with leased as
      (select w.owner_id, count(*) as files from recording_copies c join workspaces w on w.id = c.workspace_id
       where c.leased_until > $now group by w.owner_id),
    due as
      (select c.workspace_id, c.recording_id, c.deadline, c.deadline <= $urgentUntil as is_urgent,
         coalesce(l.files, 0)
           + row_number() over (partition by w.owner_id order by c.deadline, c.recording_id) as turn
       from recording_copies c
       join workspaces w on w.id = c.workspace_id
       left join leased l on l.owner_id = w.owner_id
       where c.next_attempt_at <= $now and (c.leased_until is null or c.leased_until <= $now)),
    ranked as
      (select *, row_number() over (partition by is_urgent order by turn, deadline, recording_id) as place
       from due where turn <= ${MAX_LEASES_PER_OWNER}),
    selected as
      (select workspace_id, recording_id, is_urgent
       from recording_copies c join ranked using (workspace_id, recording_id)
       where is_urgent or place <= $maxNotUrgent
       order by is_urgent desc, place limit $max for update of c skip locked)
    update recording_copies c set leased_until = $leasedUntil, attempts = c.attempts + 1
    from recordings r, selected s
    where c.workspace_id = s.workspace_id and c.recording_id = s.recording_id
      and r.workspace_id = c.workspace_id and r.id = c.recording_id
    returning c.workspace_id as "workspaceId", c.recording_id as "recordingId", r.room_id as "roomId",
      r.archive_id as "archiveId", c.sealed_url as "sealedUrl", c.deadline, c.attempts as attempt,
      c.is_own_storage as "isOwnStorage", s.is_urgent as "isUrgent"`,
});

/**
 * Leases up to `max` due files for a minute each. At most `maxNotUrgent` of them are not urgent. Urgent files come
 * first; after that, the owners of the workspaces take turns. Across all processes, at most three files of one owner
 * are leased at a time.
 */
export function leaseCopies(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  max: number,
  maxNotUrgent = max,
): Promise<CopyLease[]> {
  return db.sql.transact(async (sql) => {
    // Awaited, because the statement after it must see the leases that were granted meanwhile.
    await sql.run(lockLeases, {});
    const now = clock.now();
    const [urgentUntil, leasedUntil] = [after(now, URGENT_MS), after(now, COPY_LEASE_MS)];
    return sql.run(leaseStatement, { now, urgentUntil, leasedUntil, max, maxNotUrgent });
  });
}

function after(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}

const renewStatement = statement('renew-recording-copy', {
  params: { workspaceId: int, recordingId: int, attempt: int, now: time, waitingSince: time, leasedUntil: time },
  returns: { waiting: int },
  sql: `
    with owners as
      (select w.owner_id, count(*) filter (where c.leased_until > $now) as leased,
         bool_or(c.next_attempt_at <= $waitingSince
           and (c.leased_until is null or c.leased_until <= $now)) as is_waiting,
         bool_or(c.workspace_id = $workspaceId) as is_own
       from recording_copies c join workspaces w on w.id = c.workspace_id group by w.owner_id)
    update recording_copies set leased_until = $leasedUntil
    where workspace_id = $workspaceId and recording_id = $recordingId and attempts = $attempt
      and leased_until is not null
    returning (select count(*)::int from owners
      where is_waiting and not is_own and leased < ${MAX_LEASES_PER_OWNER}) as waiting`,
});

/**
 * Extends a lease to a minute from now. Returns how many other owners have a file that is waiting for a slot. Returns
 * null if another process has the lease or the file is no longer in the queue.
 */
export async function renewLease(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId, recordingId, attempt }: CopyLease,
): Promise<number | null> {
  const now = clock.now();
  const [row] = await db.sql.run(renewStatement, {
    workspaceId,
    recordingId,
    attempt,
    now,
    waitingSince: after(now, -WAITING_MS),
    leasedUntil: after(now, COPY_LEASE_MS),
  });
  return row?.waiting ?? null;
}

const nextStatement = statement('find-next-recording-copy', {
  params: {},
  returns: { dueAt: nullable(time) },
  sql: `
    select min(greatest(next_attempt_at, leased_until)) as "dueAt" from (
      select next_attempt_at, leased_until from recording_copies where next_attempt_at is not null
      order by next_attempt_at limit ${MAX_READ}) waiting`,
});

/** When the next file can be leased; null if none waits. */
export async function findNextCopy({ sql }: Pick<Database, 'sql'>): Promise<Date | null> {
  return onlyRow(await sql.run(nextStatement, {})).dueAt;
}

/** Releases a lease, so that another process can copy the file immediately. */
export async function releaseLease(db: Database, { workspaceId, recordingId, attempt }: CopyLease): Promise<void> {
  const where = { workspaceId, recordingId, attempts: attempt };
  await runWrite(db, (tx) => tx.recordingCopy.updateMany({ where, data: { leasedUntil: null } }));
  await notifyCopiers(db.sql);
}

/**
 * Schedules the next attempt. The backoff doubles from 5 seconds to 5 minutes, or to an hour after a lasting failure,
 * and the last attempt is at the deadline. If the deadline has passed, the file is no longer tried and the recording
 * fails. A recording whose file is in the customer's own storage and could not be fetched does not fail: it remains
 * `uploaded`, with the reason. Does nothing if another process has the lease.
 */
export function recordFailure(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  lease: CopyLease,
  { reason, isLasting = false, isWrongFile = false }: CopyFailure,
): Promise<void> {
  return transact(db, async (tx) => {
    const { workspaceId, recordingId, attempt, deadline, roomId, archiveId, isOwnStorage } = lease;
    await lockWorkspace(tx, workspaceId, 'Recording');
    const now = clock.now();
    const isOver = now >= deadline;
    const nextAttemptAt = new Date(
      Math.min(now.getTime() + backoffMs(attempt, isLasting ? LONG_BACKOFF : BACKOFF), deadline.getTime()),
    );
    const { count } = await tx.recordingCopy.updateMany({
      // A new URL that arrived during the copy has another deadline. It has not been tried yet, so its schedule does
      // not change.
      where: { workspaceId, recordingId, attempts: attempt, deadline },
      data: { nextAttemptAt: isOver ? null : nextAttemptAt, leasedUntil: null, lastError: reason },
    });
    if (count === 0) {
      await tx.recordingCopy.updateMany({
        where: { workspaceId, recordingId, attempts: attempt },
        data: { leasedUntil: null, lastError: reason },
      });
      return;
    }
    if (!isOver) return;
    const failureReason = `The file could not be copied in time: ${reason}`;
    if (isOwnStorage && !isWrongFile) {
      await tx.recording.updateMany({
        where: { workspaceId, id: recordingId, status: 'uploaded' },
        data: { failureReason, updatedAt: now },
      });
      return;
    }
    await advanceRecording(tx, now, { workspaceId, roomId, archiveId }, { status: 'failed', failureReason });
  });
}
