/** Renames and deletes recordings of rooms that the caller manages. */
import { auditParams, insertAuditFrom, toAuditParams } from '../../audit/audit-statements.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Caller } from '../../auth/identify.ts';
import { lockWorkspace, requireCurrentRole } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { removeDiscardedObject } from '../../storage/discarded-objects.ts';
import { type FoundRecording, findRecording, readRecording } from './read-recordings.ts';
import type { Recording, RecordingInput, RenameRecordingInput } from './schemas.ts';

const removeRecording = statement('delete-recording', {
  params: { workspaceId: int, recordingId: int, ...auditParams },
  returns: { file_key: nullable(text) },
  sql: `
    with deleted as (
      delete from recordings where workspace_id = $workspaceId and id = $recordingId
      returning id, room_id, title, duration, size, file_key),
    audited as (${insertAuditFrom('deleted', {
      target: 'recording',
      action: 'recording.deleted',
      targetId: 'id',
      details: `json_build_object('name', title,
        'before', json_build_object('room_id', room_id, 'duration', duration, 'size', size))`,
    })})
    select file_key from deleted`,
});

/**
 * Sets or clears the title of a recording. Throws 404, and 403 if the caller is not the owner or an admin of the
 * workspace.
 */
export function renameRecording(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  { recordingId, title }: RenameRecordingInput,
  origin: string,
): Promise<Recording> {
  return transact(db, async (tx) => {
    const { workspaceId } = await lockRecording(tx, caller, { recordingId });
    // `updatedAt` stays: it says when something was last heard of the file.
    await tx.recording.updateMany({ where: { workspaceId, id: recordingId }, data: { title: title || null } });
    return readRecording(sqlIn(tx), { workspaceId, recordingId }, origin);
  });
}

/**
 * Locks the workspace and returns the recording. Throws 404, and 403 if the caller is no longer the owner or an admin.
 */
async function lockRecording(tx: Tx, caller: Caller, input: RecordingInput): Promise<FoundRecording> {
  const { workspaceId } = await findRecording(sqlIn(tx), caller, input);
  await lockWorkspace(tx, workspaceId, 'Recording');
  // Reads the recording again: during the wait for the lock, the recording may have been deleted, its room reassigned,
  // or the role changed.
  const recording = await findRecording(sqlIn(tx), caller, input);
  await requireCurrentRole(tx, { ...caller, workspaceId }, 'admin');
  return recording;
}

/**
 * Deletes a recording and its file. Later callbacks from its provider do not recreate it. If the store is unavailable,
 * the file is deleted later. Throws 404, and 403 if the caller is not the owner or an admin of the workspace.
 */
export async function deleteRecording(
  services: Services,
  caller: Caller,
  { recordingId }: RecordingInput,
): Promise<{ ok: true }> {
  const fileKey = await transact(services.db, async (tx) => {
    const { workspaceId } = await lockRecording(tx, caller, { recordingId });
    const audit = toAuditParams(auditActorOf(caller), services.clock.now());
    const [deleted] = await sqlIn(tx).run(removeRecording, { workspaceId, recordingId, ...audit });
    if (!deleted) throw notFound('Recording');
    return deleted.file_key;
  });
  if (fileKey !== null) await removeDiscardedObject(services, fileKey);
  return { ok: true };
}
