/** Reads recordings of rooms that the caller manages, and creates URLs to download their files. */
import type { Caller } from '../../auth/identify.ts';
import { requireSatisfied } from '../../auth/sign-in-requirements.ts';
import { notFound } from '../../core/errors.ts';
import type { RecordingStatus } from '../../core/recording-status.ts';
import { bytes, float, int, nullable, oneOf, type RowOf, type Sql, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { signDownload } from '../../storage/sign-download.ts';
import type { Download } from '../library/schemas.ts';
import { callerParams, roomConditions, toCallerParams } from '../rooms/read-rooms.ts';
import { forHosts, recordingFields, recordingTables } from './recording-columns.ts';
import type { Recording, RecordingInput } from './schemas.ts';

const recordingById = statement('read-recording', {
  params: { workspaceId: int, recordingId: int, origin: text },
  returns: recordingFields,
  sql: `
    select ${forHosts} from ${recordingTables}
    where c.workspace_id = $workspaceId and c.id = $recordingId`,
});

export const foundFields = {
  id: int,
  workspaceId: int,
  roomId: int,
  archiveId: text,
  name: text,
  status: oneOf<RecordingStatus>(),
  fileKey: nullable(text),
  posterKey: nullable(text),
  mediaType: oneOf<'video/mp4' | 'video/webm'>(),
  sha256: nullable(bytes),
  size: float,
  duration: float,
};

/** The columns of the recording `c` in the room `r`. */
export const foundColumns = `c.id, c.workspace_id as "workspaceId", c.room_id as "roomId", c.archive_id as "archiveId",
      coalesce(nullif(c.title, ''), r.name) as name, c.status, c.file_key as "fileKey", c.poster_key as "posterKey",
      c.media_type as "mediaType", c.sha256,
      c.size::float8 as size, c.duration::float8 as duration`;

/**
 * Starts from the caller's memberships, so that each join can use a primary key, whose first column is the workspace
 * ID.
 */
const managedRecording = statement('find-recording-of-managed-room', {
  params: { recordingId: int, ...callerParams },
  returns: foundFields,
  sql: `
    select ${foundColumns}
    from members m
    join recordings c on c.workspace_id = m.workspace_id and c.id = $recordingId
    join rooms r on r.workspace_id = c.workspace_id and r.id = c.room_id
    where m.user_id = $userId and ${roomConditions.managed}`,
});

/**
 * A recording with its internal fields. `name` is the title or, if there is none, the name of the room. `size` is in
 * bytes, `duration` in seconds.
 */
export type FoundRecording = RowOf<typeof managedRecording>;

/** Reads a recording of a workspace without checking access. Throws 404. */
export async function readRecording(
  sql: Sql,
  { workspaceId, recordingId }: { workspaceId: number; recordingId: number },
  origin: string,
): Promise<Recording> {
  const [recording] = await sql.run(recordingById, { workspaceId, recordingId, origin });
  if (!recording) throw notFound('Recording');
  return recording;
}

/**
 * Finds a recording of a room that the caller manages. Throws the same 404 for an unknown recording and for a recording
 * of any other room, and 403 as `requireSatisfied` does.
 */
export async function findRecording(
  sql: Sql,
  caller: Caller,
  { recordingId }: RecordingInput,
): Promise<FoundRecording> {
  const [recording] = await sql.run(managedRecording, { recordingId, ...toCallerParams(caller) });
  if (!recording) throw notFound('Recording');
  requireSatisfied(caller, recording.workspaceId);
  return recording;
}

/**
 * Returns a URL that serves the recording for 15 minutes (by default). `origin` is the origin of that URL. Throws the
 * same 404 if the recording does not exist, belongs to a room that the caller does not manage, or is not available.
 */
export async function createDownload(
  { db, store, clock, settings }: Pick<Services, 'db' | 'store' | 'clock' | 'settings'>,
  caller: Caller,
  input: RecordingInput,
  origin: string,
): Promise<Download> {
  return toDownload({ store, clock, settings }, await findRecording(db.sql, caller, input), origin);
}

/** Returns a URL that serves a recording that the caller may watch. Throws 404 if it is not available. */
export async function toDownload(
  { store, clock, settings }: Pick<Services, 'store' | 'clock' | 'settings'>,
  { status, fileKey, name, mediaType }: FoundRecording,
  origin: string,
): Promise<Download> {
  if (status !== 'available' || fileKey === null) throw notFound('Recording');
  return signDownload({ store, clock, settings }, fileKey, { filename: name, contentType: mediaType, origin });
}
