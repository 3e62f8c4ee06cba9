/** The upload of a recording's file: from its recorder, or from the user of its room. */
import type { Caller } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { toRecordingStatus, unfinishedStatuses } from '../../core/recording-status.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Database, Tx } from '../../db/client.ts';
import type { IncomingUpload } from '../../media/receive-file.ts';
import type { Services } from '../../services.ts';
import { findOwnRecording, readRecording } from './read-recordings.ts';
import type { RecordingKey } from './recording-lifecycle.ts';
import type { Recording } from './schemas.ts';
import { requireUnfinished, storeRecordingFile } from './store-recording-file.ts';

/** How often an upload is noted while it lasts; well below the least RECORDING_TIMEOUT_HOURS. */
const NOTED_EVERY_MS = 5 * MINUTE_MS;

/** Who shows the token of a recording, which opens nothing else. */
export type Recorder = { id: number; workspaceId: number; kind: 'recorder' };

/** Who uploads, and to which recording. */
export type Uploader = { recordingId: number; key: RecordingKey; by: Caller | Recorder };

type Found = { workspaceId: number; roomId: number; archiveId: string; status: string };

/**
 * The recorder behind a token; null where there is none. A token outlives its upload: who sends the file once more,
 * because the answer got lost, must learn that it is there.
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
 * Finds the recording that the file is for. Throws the same 404 for what is no recording and for one that is not theirs,
 * and 409 for one that takes no file any more.
 */
export async function findUploader(db: Database, by: Caller | Recorder, recordingId: number): Promise<Uploader> {
  const { workspaceId, roomId, archiveId, status } = await findRecording(db, by, recordingId);
  requireUnfinished(toRecordingStatus(status));
  return { recordingId, key: { workspaceId, roomId, archiveId }, by };
}

function findRecording(db: Database | Tx, by: Caller | Recorder, recordingId: number): Promise<Found> {
  return isRecorder(by) ? findRecorded(db, by, recordingId) : findOwnRecording(db, by, { recordingId });
}

function isRecorder(by: Caller | Recorder): by is Recorder {
  return 'kind' in by;
}

/** The recording of a recorder. Throws 404 for any other one, and where it was deleted. */
async function findRecorded(db: Database | Tx, { workspaceId, id }: Recorder, recordingId: number): Promise<Found> {
  if (id !== recordingId) throw notFound('Recording');
  const found = await db.recording.findUnique({
    where: { workspaceId_id: { workspaceId, id } },
    select: { workspaceId: true, roomId: true, archiveId: true, status: true },
  });
  if (found === null) throw notFound('Recording');
  return found;
}

/**
 * Receives the upload of a recording's file; see `storeRecordingFile`. Once the body is whole it is committed, whether
 * anyone still waits for the answer or not. However long it takes, the recording does not fail meanwhile for want of its
 * file. `origin` is where this service is reached.
 */
export async function uploadRecording(
  services: Services,
  uploader: Uploader,
  { file, fields, signal }: IncomingUpload,
  origin: string,
  notedEveryMs = NOTED_EVERY_MS,
): Promise<Recording> {
  const { key, recordingId, by } = uploader;
  // Between who may and here another upload may have ended: then not a byte of this one is stored.
  if (!(await noteUpload(services, uploader))) await findUploader(services.db, by, recordingId);
  const endNotes = keepNoting(services, uploader, notedEveryMs);
  try {
    await storeRecordingFile(services, key, {
      file: await file,
      signal,
      whole: fields,
      // It may have taken hours: may they still?
      beforeCommit: (tx) => findRecording(tx, by, recordingId),
    });
  } finally {
    endNotes();
  }
  return readRecording(services.db, { workspaceId: key.workspaceId, recordingId }, origin);
}

/**
 * Whoever uploads is heard of, so that a slow upload is not taken for a recording whose file never comes. Returns
 * whether the recording still takes a file.
 */
async function noteUpload({ db, clock }: Services, { key, recordingId }: Uploader): Promise<boolean> {
  const { count } = await db.recording.updateMany({
    where: { workspaceId: key.workspaceId, id: recordingId, status: { in: unfinishedStatuses } },
    data: { updatedAt: clock.now() },
  });
  return count > 0;
}

/** Goes on noting an upload. Returns how to end it. */
function keepNoting(services: Services, uploader: Uploader, everyMs: number): () => void {
  const note = (): void =>
    void noteUpload(services, uploader).catch((error: unknown) => {
      services.log.warn({ err: error, recordingId: uploader.recordingId }, 'An upload could not be noted');
    });
  const timer = setInterval(note, everyMs);
  return () => clearInterval(timer);
}
