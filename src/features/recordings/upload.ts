/** The upload of a recording's file, by its recorder or by the room's user. */
import type { Caller } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { toRecordingStatus, unfinishedStatuses } from '../../core/recording-status.ts';
import { systemTicker } from '../../core/ticker.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Database, Tx } from '../../db/client.ts';
import { storeAnswerOfCall } from '../../db/idempotency-keys.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, type Sql, statement, text } from '../../db/statements.ts';
import type { IncomingUpload } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import { findRecording, readRecording } from './read-recordings.ts';
import type { RecordingKey } from './recording-lifecycle.ts';
import type { Recording } from './schemas.ts';
import { type ByteAllowance, requireByteAllowance } from './start-limits.ts';
import { requireUnfinished, storeRecordingFile } from './store-recording-file.ts';

/** How often a running upload updates its recording; well below the minimum of RECORDING_TIMEOUT_HOURS. */
const HEARTBEAT_MS = 5 * MINUTE_MS;

/** The holder of a recording's upload token, which grants access to this recording only. */
export type Recorder = { id: number; workspaceId: number; kind: 'recorder' };

/** Who uploads, and to which recording. */
export type Uploader = {
  recordingId: number;
  key: RecordingKey;
  uploadedBy: Caller | Recorder;
  /** Whether a participant started the recording. They may store a limited number of bytes. */
  isParticipant: boolean;
};

type FoundRecording = {
  workspaceId: number;
  roomId: number;
  archiveId: string;
  status: string;
  /** The participant who started the recording, if one did and a recorder uploads it. */
  startedBy?: number | null;
};

const recordingOfRecorder = statement('find-recording-of-recorder', {
  params: { workspaceId: int, recordingId: int },
  returns: { workspaceId: int, roomId: int, archiveId: text, status: text, startedBy: nullable(int) },
  sql: `
    select workspace_id as "workspaceId", room_id as "roomId", archive_id as "archiveId", status,
      started_by as "startedBy"
    from recordings where workspace_id = $workspaceId and id = $recordingId`,
});

/**
 * Finds the recorder that holds an upload token; null for an unknown token. A token stays valid after the upload, so
 * that a recorder that did not receive the response and uploads again gets 409 instead of 401.
 */
export async function findRecorder(db: Database, token: string): Promise<Recorder | null> {
  if (!isToken('lnr_', token)) return null;
  const recording = await db.recording.findUnique({
    where: { uploadTokenHash: hashToken(token) },
    select: { id: true, workspaceId: true },
  });
  return recording && { ...recording, kind: 'recorder' };
}

/**
 * Finds the recording that a file is uploaded to. Throws the same 404 for an unknown recording and for one that the
 * caller may not upload to.
 */
export async function findUploader(
  db: Database,
  uploadedBy: Caller | Recorder,
  recordingId: number,
): Promise<Uploader> {
  const found = await findRecordingToUpload(db.sql, uploadedBy, recordingId);
  const { workspaceId, roomId, archiveId, startedBy = null } = found;
  return { recordingId, key: { workspaceId, roomId, archiveId }, uploadedBy, isParticipant: startedBy !== null };
}

function findRecordingToUpload(sql: Sql, uploadedBy: Caller | Recorder, recordingId: number): Promise<FoundRecording> {
  return isRecorder(uploadedBy)
    ? findRecordingOfRecorder(sql, uploadedBy, recordingId)
    : findRecording(sql, uploadedBy, { recordingId }, 'own');
}

function isRecorder(uploadedBy: Caller | Recorder): uploadedBy is Recorder {
  return 'kind' in uploadedBy;
}

/** Throws 404 for a recording other than the recorder's, and for one that has been deleted. */
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
 * Receives the upload of a recording's file; see `storeRecordingFile` for the errors. A recording that needs no file is
 * refused before any bytes are stored. A body that has arrived in full is committed even if the client has
 * disconnected. The recording does not become stale during the upload, however long that takes. `origin` is the origin
 * of the recording's URL.
 */
export async function uploadRecording(
  services: Services,
  uploader: Uploader,
  { file, fields, signal }: IncomingUpload,
  origin: string,
  ticker = systemTicker,
): Promise<Recording> {
  const { key, recordingId, uploadedBy } = uploader;
  const allowance = await requireAllowance(services, services.db, uploader);
  if (!(await touchRecording(services, uploader))) {
    const { status } = await findRecordingToUpload(services.db.sql, uploadedBy, recordingId);
    requireUnfinished(toRecordingStatus(status));
  }
  const read = (sql: Sql) => readRecording(sql, { workspaceId: key.workspaceId, recordingId }, origin);
  const stopHeartbeat = ticker.every(HEARTBEAT_MS, () => void sendHeartbeat(services, uploader));
  try {
    await storeRecordingFile(services, key, {
      file: await file,
      signal,
      bodyEnd: fields,
      allowance,
      // The upload may have taken hours, and others may have finished meanwhile.
      async beforeCommit(tx, { size }) {
        await findRecordingToUpload(sqlIn(tx), uploadedBy, recordingId);
        await requireAllowance(services, tx, uploader, size);
      },
      atEnd: (tx) => storeAnswerOfCall(sqlIn(tx), async (sql) => ({ recording: await read(sql) })),
    });
  } finally {
    stopHeartbeat();
  }
  return read(services.db.sql);
}

/** Throws 429 if a participant uploads, and the room's participants may not store `needed` more bytes. */
async function requireAllowance(
  { clock, settings }: Services,
  db: Database | Tx,
  { key, isParticipant }: Uploader,
  needed = 1,
): Promise<ByteAllowance | null> {
  if (!isParticipant) return null;
  return requireByteAllowance(db, clock.now(), key, { maxBytes: settings.participantRecordingBytes, needed });
}

/** Sets `updated_at` of a recording without a file to now. Returns false if it needs no file any more. */
async function touchRecording({ db, clock }: Services, { key, recordingId }: Uploader): Promise<boolean> {
  const { count } = await db.recording.updateMany({
    where: { workspaceId: key.workspaceId, id: recordingId, status: { in: unfinishedStatuses } },
    data: { updatedAt: clock.now() },
  });
  return count > 0;
}

async function sendHeartbeat(services: Services, uploader: Uploader): Promise<void> {
  try {
    await touchRecording(services, uploader);
  } catch (error) {
    services.log.warn({ err: error, recordingId: uploader.recordingId }, 'Failed to record the heartbeat of an upload');
  }
}
