/** Receives the file of a recording from its recorder, or from a host of the room. */
import type { Caller } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { runRepeatable } from '../../core/call-bounds.ts';
import { notFound, participantRemoved } from '../../core/errors.ts';
import { toRecordingStatus, unfinishedStatuses } from '../../core/recording-status.ts';
import { systemTicker } from '../../core/ticker.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { type Database, runWrite, type Tx } from '../../db/client.ts';
import { storeAnswerOfCall } from '../../db/idempotency-keys.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';
import type { IncomingUpload } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import { findRecording, readRecording } from './read-recordings.ts';
import type { RecordingKey } from './recording-lifecycle.ts';
import { isStartedByGuest } from './recording-rights.ts';
import type { Recording } from './schemas.ts';
import { type ByteAllowance, requireByteAllowance } from './start-limits.ts';
import { requireUnfinished, storeRecordingFile } from './store-recording-file.ts';

/** How often a running upload updates its recording. This is well below the minimum of RECORDING_TIMEOUT_HOURS. */
const HEARTBEAT_MS = 5 * MINUTE_MS;

/** The holder of a recording's upload token, which grants access to this recording only. */
export type Recorder = { id: number; workspaceId: number; kind: 'recorder' };

/** The uploader of a file, and the recording that the file belongs to. */
export type Uploader = {
  recordingId: number;
  key: RecordingKey;
  uploadedBy: Caller | Recorder;
  /** Whether a guest started the recording, and uploads it. Guests may store only a limited number of bytes. */
  isGuest: boolean;
};

type FoundRecording = {
  workspaceId: number;
  roomId: number;
  archiveId: string;
  status: string;
  fileKey: string | null;
  /** Whether a guest started the recording. Not set if a user uploads the file. */
  isGuest?: boolean;
};

/**
 * The condition that a host had removed the person who started the recording `c` before `$removedBefore`, and after the
 * recording began. They may have left before that: a bar lasts for 24 hours from the removal (`BAR_MS`), unless a host
 * lifts it. They may also have joined again, as another participant of the same user or with the same first visit.
 */
export const isStarterRemoved = `exists (
        select from participants s
        join participants p on p.workspace_id = s.workspace_id and p.room_id = s.room_id and (p.id = s.id
          or p.user_id = s.user_id or p.id = s.first_visit_id or p.first_visit_id = coalesce(s.first_visit_id, s.id))
        where s.workspace_id = c.workspace_id and s.id = c.started_by and p.end_reason = 'removed'
          and greatest(p.left_at, p.barred_until - interval '24 hours') >= c.created_at
          and greatest(p.left_at, p.barred_until - interval '24 hours') < $removedBefore)`;

const removalOfStarter = statement('check-removal-of-starter', {
  params: { workspaceId: int, recordingId: int, removedBefore: time },
  returns: { isRemoved: bool },
  sql: `
    select ${isStarterRemoved} as "isRemoved" from recordings c
    where c.workspace_id = $workspaceId and c.id = $recordingId`,
});

/** The value of `$removedBefore` in `isStarterRemoved` for participants who may upload nothing any more. */
export function removedBefore({ clock, settings }: Pick<Services, 'clock' | 'settings'>): Date {
  return new Date(clock.now().getTime() - settings.recordingIdleSeconds * SECOND_MS);
}

const recordingOfRecorder = statement('find-recording-of-recorder', {
  params: { workspaceId: int, recordingId: int },
  returns: {
    workspaceId: int,
    roomId: int,
    archiveId: text,
    status: text,
    fileKey: nullable(text),
    isGuest: bool,
  },
  sql: `
    select workspace_id as "workspaceId", room_id as "roomId", archive_id as "archiveId", status,
      file_key as "fileKey", ${isStartedByGuest} as "isGuest"
    from recordings c where workspace_id = $workspaceId and id = $recordingId`,
});

const recorderOfToken = statement('find-recorder', {
  params: { tokenHash: bytes, removedBefore: time },
  returns: { id: int, workspaceId: int, isRemoved: bool },
  sql: `
    select c.id, c.workspace_id as "workspaceId", ${isStarterRemoved} as "isRemoved"
    from recordings c where c.upload_token_hash = $tokenHash`,
});

/**
 * Finds the recorder that holds an upload token, or returns null if the token is unknown. A token stays valid after the
 * upload: a recorder that did not receive the response and uploads again gets 409 instead of 401. If a host has removed
 * the participant who started the recording, the token works for another `recordingIdleSeconds`, for what was captured
 * before. Throws 403 PARTICIPANT_REMOVED after that.
 */
export async function findRecorder(services: Services, token: string): Promise<Recorder | null> {
  if (!isToken('lnr_', token)) return null;
  const params = { tokenHash: hashToken(token), removedBefore: removedBefore(services) };
  const [recorder] = await services.db.sql.run(recorderOfToken, params);
  if (!recorder) return null;
  if (recorder.isRemoved) throw participantRemoved();
  return { id: recorder.id, workspaceId: recorder.workspaceId, kind: 'recorder' };
}

/**
 * Finds the recording that a file is uploaded to. Throws the same 404 whether the recording does not exist or the
 * caller may not upload to it.
 */
export async function findUploader(
  db: Database,
  uploadedBy: Caller | Recorder,
  recordingId: number,
): Promise<Uploader> {
  const found = await findRecordingToUpload(db.sql, uploadedBy, recordingId);
  const { workspaceId, roomId, archiveId, isGuest = false } = found;
  return { recordingId, key: { workspaceId, roomId, archiveId }, uploadedBy, isGuest };
}

function findRecordingToUpload(sql: Sql, uploadedBy: Caller | Recorder, recordingId: number): Promise<FoundRecording> {
  return isRecorder(uploadedBy)
    ? findRecordingOfRecorder(sql, uploadedBy, recordingId)
    : findRecording(sql, uploadedBy, { recordingId });
}

/** Whether the holder of an upload token uploads. */
export function isRecorder(uploadedBy: Caller | Recorder): uploadedBy is Recorder {
  return 'kind' in uploadedBy;
}

/** Throws 404 if the recording is not the recorder's own or has been deleted. */
async function findRecordingOfRecorder(
  sql: Sql,
  { workspaceId, id }: Recorder,
  recordingId: number,
): Promise<FoundRecording> {
  if (id !== recordingId) throw notFound('Recording');
  const [found] = await sql.run(recordingOfRecorder, { workspaceId, recordingId: id });
  if (!found) throw notFound('Recording');
  return found;
}

/**
 * Receives the upload of a recording's file. Throws the same errors as `storeRecordingFile`. If the recording needs no
 * file, throws before any bytes are stored. Throws 403 if a host has removed the participant, see `findRecorder`. Once
 * the whole body has arrived, the upload is committed even if the client disconnects. The recording does not become
 * stale during the upload, however long the upload takes. `origin` is the origin of the recording's URL.
 */
export async function uploadRecording(
  services: Services,
  uploader: Uploader,
  { file, fields, signal }: IncomingUpload,
  origin: string,
  ticker = systemTicker,
): Promise<Recording> {
  const { key, recordingId } = uploader;
  const allowance = await requireRecordingUpload(services, uploader);
  const read = (sql: Sql) => readRecording(sql, { workspaceId: key.workspaceId, recordingId }, origin);
  const stopHeartbeat = startHeartbeat(services, { workspaceId: key.workspaceId, recordingId }, ticker);
  try {
    await storeRecordingFile(services, key, {
      file: await file,
      signal,
      bodyEnd: fields,
      allowance,
      async beforeCommit(tx, { size }) {
        await requireNotRemoved(services, sqlIn(tx), uploader);
        await requireUploadAtEnd(services, tx, uploader, size);
      },
      atEnd: (tx) => storeAnswerOfCall(sqlIn(tx), async (sql) => ({ recording: await read(sql) })),
    });
  } finally {
    stopHeartbeat();
  }
  return read(services.db.sql);
}

/**
 * Throws 404 if the recording has been deleted, 409 unless it still needs a file, and 429 if the guests of the room may
 * not store more bytes. Otherwise counts as a sign of life of the recording.
 */
export async function requireRecordingUpload(services: Services, uploader: Uploader): Promise<ByteAllowance | null> {
  const allowance = await requireAllowance(services, services.db.sql, uploader);
  const { recordingId, key } = uploader;
  if (!(await touchRecording(services, { workspaceId: key.workspaceId, recordingId }))) {
    const { status, fileKey } = await findRecordingToUpload(services.db.sql, uploader.uploadedBy, recordingId);
    requireUnfinished(toRecordingStatus(status), fileKey);
  }
  return allowance;
}

/** Checks again before the commit: the upload may have taken hours, and others may have finished in that time. */
export async function requireUploadAtEnd(services: Services, tx: Tx, uploader: Uploader, size: number): Promise<void> {
  await findRecordingToUpload(sqlIn(tx), uploader.uploadedBy, uploader.recordingId);
  await requireAllowance(services, sqlIn(tx), uploader, size);
}

/** Throws 429 if a guest started the recording and the room's guests may not store `needed` more bytes. */
export async function requireAllowance(
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  sql: Sql,
  { key, isGuest, recordingId }: Uploader,
  needed = 1,
): Promise<ByteAllowance | null> {
  if (!isGuest) return null;
  const { participantRecordingBytes: maxBytes } = settings;
  return requireByteAllowance(sql, clock.now(), key, { maxBytes, needed, recordingId });
}

/** Throws 403 if a host has removed the participant whose recorder uploads too long ago, while the file arrived. */
async function requireNotRemoved(services: Services, sql: Sql, { uploadedBy }: Uploader): Promise<void> {
  if (!isRecorder(uploadedBy)) return;
  const { workspaceId, id } = uploadedBy;
  const [row] = await sql.run(removalOfStarter, {
    workspaceId,
    recordingId: id,
    removedBefore: removedBefore(services),
  });
  if (row?.isRemoved) throw participantRemoved();
}

type RecordingId = { workspaceId: number; recordingId: number };

/** Sets `updated_at` of a recording without a file to now. Returns false if the recording no longer needs a file. */
export async function touchRecording(
  { db, clock }: Services,
  { workspaceId, recordingId }: RecordingId,
): Promise<boolean> {
  const where = { workspaceId, id: recordingId, status: { in: unfinishedStatuses }, fileKey: null };
  const data = { updatedAt: clock.now() };
  // Only the transaction that stores the file carries out the call.
  const { count } = await runRepeatable(() => runWrite(db, (tx) => tx.recording.updateMany({ where, data })));
  return count > 0;
}

/** Updates a recording every 5 minutes until the returned function is called. */
export function startHeartbeat(services: Services, recording: RecordingId, ticker = systemTicker): () => void {
  const beat = (): void => {
    touchRecording(services, recording).catch((error: unknown) =>
      services.log.warn({ err: error, ...recording }, 'Failed to record the heartbeat of an upload'),
    );
  };
  return ticker.every(HEARTBEAT_MS, beat);
}
