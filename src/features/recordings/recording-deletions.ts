/**
 * Keeps track of deleted recordings. Providers may send callbacks about a recording for days. A late callback must not
 * recreate a deleted recording and copy its file again. Database triggers record each deletion.
 */

import { DAY_MS } from '../../core/time.ts';
import type { Tx } from '../../db/client.ts';
import { inBatches } from '../../db/in-batches.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

/**
 * Much longer than the period during which Vonage and LiveKit send callbacks. Vonage stores an archive for 3 days and
 * retries a callback for one more day. LiveKit retries for seconds. A program behind a generic connection may still
 * send a callback after this time.
 */
const RETENTION_MS = 90 * DAY_MS;
const PRUNE_BATCH = 1_000;

/** The archive, and the room that the provider names. `roomName` is null if the provider names only its own session. */
type ReportedArchive = { workspaceId: number; archiveId: string; roomName: string | null };

/**
 * Returns whether the recording was deleted. Providers that do not name the room have globally unique archive ids. Call
 * this function with the workspace locked.
 */
export async function isDeleted(tx: Tx, { workspaceId, archiveId, roomName }: ReportedArchive): Promise<boolean> {
  const room = roomName === null ? {} : { roomName };
  return (await tx.recordingDeletion.count({ where: { workspaceId, archiveId, ...room } })) > 0;
}

const forgetStatement = statement('forget-recording-deletion', {
  params: { workspaceId: int, roomId: int, archiveId: text },
  sql: `
    delete from recording_deletions where workspace_id = $workspaceId and archive_id = $archiveId
      and room_name = (select name from rooms where workspace_id = $workspaceId and id = $roomId)`,
});

/** Deletes the record of a deletion. Call it when a user starts a new recording with the same archive id. */
export async function forgetDeletion(
  tx: Tx,
  key: { workspaceId: number; roomId: number; archiveId: string },
): Promise<void> {
  await sqlIn(tx).run(forgetStatement, key);
}

const pruneBatch = statement('prune-recording-deletions', {
  params: { until: time },
  returns: { archiveId: text },
  sql: `
    delete from recording_deletions where (workspace_id, archive_id, room_name) in
      (select workspace_id, archive_id, room_name from recording_deletions
       where deleted_at < $until limit ${PRUNE_BATCH})
    returning archive_id as "archiveId"`,
});

/** Deletes records of deletions that are older than 90 days. */
export async function pruneDeletions({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const until = new Date(clock.now().getTime() - RETENTION_MS);
  await inBatches(PRUNE_BATCH, async () => (await db.sql.run(pruneBatch, { until })).length);
}
