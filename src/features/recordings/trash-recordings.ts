/** Takes recordings out of their rooms for the trash, and puts them back. Call these with the workspace locked. */
import { recordAudits } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { conflict, conflictForNow } from '../../core/errors.ts';
import { type RecordingStatus, unfinishedStatuses } from '../../core/recording-status.ts';
import type { Tx } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { sqlIn } from '../../db/sql.ts';
import {
  bool,
  float,
  int,
  ints,
  json,
  nullable,
  oneOf,
  type Sql,
  statement,
  text,
  texts,
  time,
} from '../../db/statements.ts';
import { addMediaJob } from '../../media/add-media-job.ts';
import { MAX_COPIED_BYTES } from '../../storage/object-store.ts';
import { forgetDeletion } from './recording-deletions.ts';

/** The row of a recording without its keys. */
type RecordingRecord = Readonly<Record<string, unknown>>;

export type TakenRecording = {
  id: number;
  roomId: number;
  /** The title, or the slug of the room. */
  name: string;
  /** 0 without a file. */
  size: number;
  fileKey: string | null;
  posterKey: string | null;
  createdAt: Date;
  record: RecordingRecord;
};

/** A recording to put back. The keys are those that its file and its poster have now. */
export type StoredRecording = Pick<TakenRecording, 'fileKey' | 'posterKey' | 'record'>;

const filesOfRecordings = statement('find-files-of-recordings', {
  params: { workspaceId: int, recordingIds: ints },
  returns: {
    id: int,
    fileKey: nullable(text),
    posterKey: nullable(text),
    status: oneOf<RecordingStatus>(),
    size: float,
  },
  sql: `
    select id, file_key as "fileKey", poster_key as "posterKey", status, size::float8 as size from recordings
    where workspace_id = $workspaceId and id = any($recordingIds)`,
});

// The file is compared, so that no recording is taken without a copy of its file; '' stands for none.
const takeStatement = statement('take-recordings', {
  params: { workspaceId: int, recordingIds: ints, fileKeys: texts },
  returns: {
    id: int,
    roomId: int,
    title: nullable(text),
    name: text,
    duration: float,
    size: float,
    fileKey: nullable(text),
    posterKey: nullable(text),
    createdAt: time,
    record: json<RecordingRecord>(),
  },
  sql: `
    with pending as materialized (
      select recording_id from media_jobs where workspace_id = $workspaceId and recording_id = any($recordingIds)),
    taken as (
      delete from recordings where workspace_id = $workspaceId
        and (id, coalesce(file_key, '')) in (select * from unnest($recordingIds, $fileKeys))
      returning *)
    select t.id, t.room_id as "roomId", t.title, coalesce(nullif(t.title, ''), r.name) as name,
      t.duration::float8 as duration, case when t.file_key is null then 0 else t.size::float8 end as size,
      t.file_key as "fileKey", t.poster_key as "posterKey", t.created_at as "createdAt",
      to_jsonb(t) - '{workspace_id,file_key,poster_key}'::text[]
        || jsonb_build_object('is_pending', t.id in (select recording_id from pending)) as record
    from taken t join rooms r on r.workspace_id = $workspaceId and r.id = t.room_id order by t.id`,
});

const putBackStatement = statement('put-back-recording', {
  params: { workspaceId: int, recording: json<RecordingRecord>(), fileKey: nullable(text), posterKey: nullable(text) },
  returns: { id: int, roomId: int, archiveId: text, title: nullable(text), isPending: bool },
  sql: `
    insert into recordings (workspace_id, id, room_id, archive_id, title, file_key, duration, size, status,
      failure_reason, failed_at, offered_at, ended_at, upload_token_hash, started_by, sha256, media_type, poster_key,
      created_at, updated_at)
    select $workspaceId, r.id, r.room_id, r.archive_id, r.title, $fileKey, r.duration, r.size, r.status,
      r.failure_reason, r.failed_at, r.offered_at, r.ended_at, r.upload_token_hash, r.started_by, r.sha256,
      r.media_type, $posterKey, r.created_at, r.updated_at
    from jsonb_populate_record(null::recordings, $recording) r
    returning id, room_id as "roomId", archive_id as "archiveId", title,
      ($recording->>'is_pending')::boolean as "isPending"`,
});

/**
 * Returns the keys of the files and posters of those of the recordings that exist. Throws 409 for a recording that is
 * not finished, or whose file the store cannot copy.
 */
export async function findFilesOfRecordings(sql: Sql, workspaceId: number, recordingIds: readonly number[]) {
  const found = await sql.run(filesOfRecordings, { workspaceId, recordingIds: [...recordingIds] });
  for (const { status, size } of found) {
    if (unfinishedStatuses.some((one) => one === status))
      throw conflictForNow('A recording that is not finished cannot be moved to the trash');
    if (size > MAX_COPIED_BYTES) throw conflict('A recording of more than 5 GB cannot be moved to the trash');
  }
  return found;
}

/**
 * Removes the recordings that exist and have these files. Like a deletion, it emits no event, and late callbacks of
 * their providers do not recreate them. Triggers discard their files and posters.
 */
export async function takeRecordings(
  tx: Tx,
  at: Date,
  actor: Actor,
  files: readonly { id: number; fileKey: string | null }[],
): Promise<TakenRecording[]> {
  const { workspaceId } = actor;
  const sql = sqlIn(tx);
  const taken = await sql.run(takeStatement, {
    workspaceId,
    recordingIds: files.map(({ id }) => id),
    fileKeys: files.map(({ fileKey }) => fileKey ?? ''),
  });
  await recordAudits(
    sql,
    taken.map(({ id, title, roomId, duration, size }) => ({
      workspaceId,
      at,
      actor: auditActorOf(actor),
      action: 'recording.trashed',
      target: { kind: 'recording', id, name: title },
      before: { room_id: roomId, duration, size },
    })),
  );
  return taken;
}

/**
 * Puts recordings back into their rooms. Callbacks of their providers are applied again. Throws 409 if a room has
 * another recording with the same archive ID meanwhile.
 */
export async function putBackRecordings(
  tx: Tx,
  at: Date,
  actor: Actor,
  recordings: readonly StoredRecording[],
): Promise<void> {
  const { workspaceId } = actor;
  const sql = sqlIn(tx);
  for (const { record, fileKey, posterKey } of recordings) {
    const [restored] = await sql
      .run(putBackStatement, { workspaceId, recording: record, fileKey, posterKey })
      .catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error;
        throw conflict('The room has another recording with the same archive ID: delete that one first');
      });
    if (restored === undefined) continue;
    const { id, roomId, archiveId, title, isPending } = restored;
    await forgetDeletion(tx, { workspaceId, roomId, archiveId });
    // The job that makes the file seekable ended when the recording left its room.
    if (isPending) await addMediaJob(tx, at, { workspaceId, recordingId: id });
    await recordAudits(sql, [
      {
        workspaceId,
        at,
        actor: auditActorOf(actor),
        action: 'recording.restored',
        target: { kind: 'recording', id, name: title },
      },
    ]);
  }
}
