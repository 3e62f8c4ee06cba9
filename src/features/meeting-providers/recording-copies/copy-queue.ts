/** The files at providers that are to be copied: the list of them, and who is at which. */

import { lockWorkspace } from '../../../auth/workspace-lock.ts';
import type { Sealer } from '../../../core/sealing.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { type Database, type Tx, transact } from '../../../db/client.ts';
import type { Services } from '../../../services.ts';
import { advanceRecording, type RecordingKey } from '../../recordings/recording-lifecycle.ts';

/** What wakes the copiers. */
export const COPY_CHANNEL = 'lynxroom_copies';

/** How long a link is tried, whatever it says of when it dies. */
const MAX_TRIED_MS = DAY_MS;
/** Of one workspace, in all processes together: what its servers do costs the others no more places. */
const MAX_OF_ONE_WORKSPACE = 3;
/** What claims wait for each other by: none sees half of what another one takes. */
const CLAIMING = 'lynxroom_claim_copies';
/** A worker that was killed is missed for as long. */
const LEASE_MS = MINUTE_MS;
const FIRST_PAUSE_MS = 5 * SECOND_MS;
const MAX_PAUSE_MS = 5 * MINUTE_MS;

export type CopyKey = { workspaceId: number; recordingId: number };

/** A file that this process is to copy. `attempt` (1, 2, ...) names the lease too: whoever claims it next has another. */
export type CopyLease = CopyKey & RecordingKey & { sealedUrl: Uint8Array; deadline: Date; attempt: number };

type LeasedRow = {
  workspace_id: number;
  recording_id: number;
  room_id: number;
  archive_id: string;
  sealed_url: Uint8Array;
  deadline: Date;
  attempts: number;
};

/** Why a copy failed, in words; `isFinal`: trying again cannot help. */
export type CopyFailure = { why: string; isFinal: boolean };

/**
 * Puts a file down to be copied, in the transaction that learns of it, and wakes a copier at its commit. Of two links to
 * one file the one that lives longer is kept; none is tried for more than a day.
 */
export async function addCopy(
  { tx, now, sealer }: { tx: Tx; now: Date; sealer: Sealer },
  { workspaceId, recordingId }: CopyKey,
  { url, expiresAt }: { url: string; expiresAt: Date | null },
): Promise<void> {
  const sealedUrl = sealer.seal(url, { workspaceId, purpose: 'recording link' });
  const latest = now.getTime() + MAX_TRIED_MS;
  const deadline = new Date(Math.min(expiresAt?.getTime() ?? latest, latest));
  await tx.$executeRaw`
    insert into recording_copies (workspace_id, recording_id, sealed_url, deadline, next_attempt_at)
    values (${workspaceId}, ${recordingId}, ${sealedUrl}, ${deadline}, ${now})
    on conflict (workspace_id, recording_id) do update set
      sealed_url = excluded.sealed_url, deadline = excluded.deadline, next_attempt_at = excluded.next_attempt_at
    where recording_copies.deadline < excluded.deadline`;
  await tx.$executeRaw`select pg_notify(${COPY_CHANNEL}, '')`;
}

/** The link of a claim. Throws where it was sealed under another key. */
export function openUrl(sealer: Sealer, { workspaceId, sealedUrl }: CopyLease): string {
  return sealer.open(sealedUrl, { workspaceId, purpose: 'recording link' });
}

export async function dropCopy(tx: Tx, { workspaceId, recordingId }: CopyKey): Promise<void> {
  await tx.recordingCopy.deleteMany({ where: { workspaceId, recordingId } });
}

/**
 * Takes up to `most` files that are due and that nobody is at, for a minute: first those whose links die first, and of a
 * workspace no more than that three are under way. Any number of processes may.
 */
export async function leaseCopies({ db, clock }: Pick<Services, 'db' | 'clock'>, max: number): Promise<CopyLease[]> {
  const rows = await transact(db, async (tx) => {
    await tx.$executeRaw`select pg_advisory_xact_lock(hashtext(${CLAIMING}))`;
    const now = clock.now();
    return tx.$queryRaw<LeasedRow[]>`
      with under_way as
        (select workspace_id, count(*) as files from recording_copies where leased_until > ${now} group by workspace_id),
      due as
        (select workspace_id, recording_id,
           row_number() over (partition by workspace_id order by deadline, recording_id) as place
         from recording_copies where next_attempt_at <= ${now} and (leased_until is null or leased_until <= ${now})),
      taken as
        (select workspace_id, recording_id
         from recording_copies c join due using (workspace_id, recording_id) left join under_way using (workspace_id)
         where due.place + coalesce(under_way.files, 0) <= ${MAX_OF_ONE_WORKSPACE}
         order by c.deadline limit ${max} for update of c skip locked)
      update recording_copies c set leased_until = ${new Date(now.getTime() + LEASE_MS)}, attempts = c.attempts + 1
      from recordings r
      where (c.workspace_id, c.recording_id) in (select workspace_id, recording_id from taken)
        and r.workspace_id = c.workspace_id and r.id = c.recording_id
      returning c.workspace_id, c.recording_id, r.room_id, r.archive_id, c.sealed_url, c.deadline, c.attempts`;
  });
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    recordingId: row.recording_id,
    roomId: row.room_id,
    archiveId: row.archive_id,
    sealedUrl: row.sealed_url,
    deadline: row.deadline,
    attempt: row.attempts,
  }));
}

/** Holds on to a claim for another minute; false: somebody else has it by now, or there is nothing to copy any more. */
export async function renewLease(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId, recordingId, attempt }: CopyLease,
): Promise<boolean> {
  const until = new Date(clock.now().getTime() + LEASE_MS);
  const { count } = await db.recordingCopy.updateMany({
    where: { workspaceId, recordingId, attempts: attempt },
    data: { leasedUntil: until },
  });
  return count === 1;
}

/** Gives a claim back, so that another process need not wait for its lease to end. */
export async function releaseLease(db: Database, { workspaceId, recordingId, attempt }: CopyLease): Promise<void> {
  await db.recordingCopy.updateMany({
    where: { workspaceId, recordingId, attempts: attempt },
    data: { leasedUntil: null },
  });
  await db.$executeRaw`select pg_notify(${COPY_CHANNEL}, '')`;
}

/**
 * Has a failed copy tried again after a pause that doubles from 5 s to 5 minutes, a last time when its link dies. After
 * that, or where trying again cannot help, the recording has failed. A claim that somebody else has by now is theirs.
 */
export function recordFailure(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  claim: CopyLease,
  { why, isFinal }: CopyFailure,
): Promise<void> {
  return transact(db, async (tx) => {
    const { workspaceId, recordingId, attempt, deadline, roomId, archiveId } = claim;
    await lockWorkspace(tx, workspaceId, 'Recording');
    const now = clock.now();
    const isOver = isFinal || now >= deadline;
    const nextAttemptAt = new Date(Math.min(now.getTime() + pauseAfter(attempt), deadline.getTime()));
    const { count } = await tx.recordingCopy.updateMany({
      // The deadline too: of a link that came meanwhile nothing is known yet.
      where: { workspaceId, recordingId, attempts: attempt, deadline },
      data: { nextAttemptAt, leasedUntil: null, lastError: why },
    });
    if (count === 0) {
      await tx.recordingCopy.updateMany({
        where: { workspaceId, recordingId, attempts: attempt },
        data: { leasedUntil: null, lastError: why },
      });
      return;
    }
    if (!isOver) return;
    const failureReason = isFinal
      ? `The file could not be copied: ${why}`
      : `The file could not be copied in time: ${why}`;
    await advanceRecording(tx, now, { workspaceId, roomId, archiveId }, { status: 'failed', failureReason });
  });
}

function pauseAfter(attempt: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempt - 1, 20), MAX_PAUSE_MS);
}
