/** Reads the recordings of a user's rooms, of one room or of a workspace, and creates URLs to download their files. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import type { RecordingStatus } from '../../core/recording-status.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { bytes, float, int, nullable, oneOf, type RowOf, type Sql, statement, text } from '../../db/statements.ts';
import { posterUrlOf } from '../../media/posters.ts';
import type { Services } from '../../services.ts';
import { signDownload } from '../../storage/sign-download.ts';
import type { Download } from '../library/schemas.ts';
import { callerParams, type RoomRelation, readRoom, roomConditions, toCallerParams } from '../rooms/read-rooms.ts';
import type { RoomInput } from '../rooms/schemas.ts';
import { isAbandoned } from './abandoned-recordings.ts';
import type { Recording, RecordingInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

const recordingFields = {
  id: int,
  room_id: int,
  room_name: text,
  archive_id: text,
  title: nullable(text),
  url: nullable(text),
  poster_url: nullable(text),
  duration: float,
  size: float,
  status: oneOf<RecordingStatus>(),
  failure_reason: nullable(text),
  copy_error: nullable(text),
  is_abandoned: int,
  created_at: float,
  ended_at: nullable(float),
};

/** The public fields of the recording `c` in the room `r`. `$origin` is the origin of its URLs. */
const recordingColumns = `c.id, c.room_id, r.name as room_name, c.archive_id, c.title,
      case when c.status = 'available' then $origin || '/api/dashboard/recordings/' || c.id || '/download' end as url,
      ${posterUrlOf('c.poster_key', "'/api/dashboard/recordings/' || c.id")} as poster_url,
      c.duration::float8 as duration, c.size::float8 as size, c.status, c.failure_reason,
      case when c.status = 'uploaded' then (
        select k.last_error from recording_copies k
        where k.workspace_id = c.workspace_id and k.recording_id = c.id and k.next_attempt_at is not null
      ) end as copy_error,
      (${isAbandoned})::int as is_abandoned,
      ${secondsOf('c.created_at')} as created_at, ${secondsOf('c.ended_at')} as ended_at`;
const recordingTables = 'rooms r join recordings c on c.workspace_id = r.workspace_id and c.room_id = r.id';

const listed = { returns: { ...recordingFields, ...timeKey }, order: byTime('c.created_at', 'c.id', 'desc') };
const listedColumns = `${recordingColumns}, ${timeKeyOf('c.created_at')}`;

const ownRecordings = pagedList('list-own-recordings', {
  ...listed,
  params: { ...callerParams, origin: text },
  sql: ({ after, window }) => `
    select ${listedColumns} from ${recordingTables} where ${roomConditions.own} ${after} ${window}`,
});

const recordingsOfRoom = pagedList('list-recordings-of-room', {
  ...listed,
  params: { workspaceId: int, roomId: int, origin: text },
  sql: ({ after, window }) => `
    select ${listedColumns} from ${recordingTables}
    where r.workspace_id = $workspaceId and r.id = $roomId ${after} ${window}`,
});

const recordingsOfWorkspace = pagedList('list-recordings-of-workspace', {
  ...listed,
  params: { workspaceId: int, origin: text },
  sql: ({ after, window }) => `
    select ${listedColumns} from ${recordingTables} where r.workspace_id = $workspaceId ${after} ${window}`,
});

const recordingById = statement('read-recording', {
  params: { workspaceId: int, recordingId: int, origin: text },
  returns: recordingFields,
  sql: `
    select ${recordingColumns} from ${recordingTables}
    where c.workspace_id = $workspaceId and c.id = $recordingId`,
});

const recordingOf = {
  own: declareRecordingOf('own'),
  managed: declareRecordingOf('managed'),
};

/**
 * Starts from the caller's memberships, so that each join can use a primary key, whose first column is the workspace
 * ID.
 */
function declareRecordingOf(relation: RoomRelation) {
  return statement(`find-recording-of-${relation}-room`, {
    params: { recordingId: int, ...callerParams },
    returns: {
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
    },
    sql: `
    select c.id, c.workspace_id as "workspaceId", c.room_id as "roomId", c.archive_id as "archiveId",
      coalesce(nullif(c.title, ''), r.name) as name, c.status, c.file_key as "fileKey", c.poster_key as "posterKey",
      c.media_type as "mediaType", c.sha256,
      c.size::float8 as size, c.duration::float8 as duration
    from members m
    join recordings c on c.workspace_id = m.workspace_id and c.id = $recordingId
    join rooms r on r.workspace_id = c.workspace_id and r.id = c.room_id
    where m.user_id = $userId and ${roomConditions[relation]}`,
  });
}

/**
 * A recording with its internal fields. `name` is the title or, if there is none, the name of the room. `size` is in
 * bytes, `duration` in seconds.
 */
export type FoundRecording = RowOf<typeof recordingOf.own>;

/** Lists the recordings of all the caller's rooms, newest first. `origin` is the origin of their URLs. */
export function listOwnRecordings(
  { db }: Db,
  caller: Caller,
  page: ListPageInput,
  origin: string,
): Promise<Page<Recording>> {
  return readPage(db.sql, ownRecordings, { ...toCallerParams(caller), origin }, page, []);
}

/** Lists the recordings of a room that the caller manages, newest first. Throws 404 "Room not found". */
export async function listRoomRecordings(
  { db }: Db,
  caller: Caller,
  { name, ...page }: RoomInput & ListPageInput,
  origin: string,
): Promise<Page<Recording>> {
  const { workspace_id: workspaceId, id: roomId } = await readRoom(db.sql, caller, { name });
  return readPage(db.sql, recordingsOfRoom, { workspaceId, roomId, origin }, page, [workspaceId, roomId]);
}

/** Lists all recordings of the workspace, newest first. */
export function listWorkspaceRecordings(
  { db }: Db,
  { workspaceId }: Actor,
  page: ListPageInput,
  origin: string,
): Promise<Page<Recording>> {
  return readPage(db.sql, recordingsOfWorkspace, { workspaceId, origin }, page, [workspaceId]);
}

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
 * Finds a recording of a room that the caller manages. If `relation` is `own`, the room must belong to the caller.
 * Throws the same 404 for an unknown recording and for a recording of any other room.
 */
export async function findRecording(
  sql: Sql,
  caller: Caller,
  { recordingId }: RecordingInput,
  relation: RoomRelation = 'managed',
): Promise<FoundRecording> {
  const [recording] = await sql.run(recordingOf[relation], { recordingId, ...toCallerParams(caller) });
  if (!recording) throw notFound('Recording');
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
  const { status, fileKey, name, mediaType } = await findRecording(db.sql, caller, input);
  if (status !== 'available' || fileKey === null) throw notFound('Recording');
  return signDownload({ store, clock, settings }, fileKey, { filename: name, contentType: mediaType, origin });
}
