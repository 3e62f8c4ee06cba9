/** Reading recordings: those of a user's rooms, of one room or of a workspace; and downloading their files. */
import type { Actor, Caller } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { ListPageInput } from '../../core/list-page.ts';
import { type RecordingStatus, toRecordingStatus } from '../../core/recording-status.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Database, Prisma, type Tx } from '../../db/client.ts';
import { limitOffset } from '../../db/limit-offset.ts';
import type { Services } from '../../services.ts';
import { signDownload } from '../../storage/sign-download.ts';
import type { Download } from '../library/schemas.ts';
import { isManaged, isOwn, readRoom } from '../rooms/read-rooms.ts';
import type { RoomInput } from '../rooms/schemas.ts';
import type { Recording, RecordingInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

type RecordingRow = {
  id: number;
  room_id: number;
  room_name: string;
  archive_id: string;
  title: string | null;
  duration: bigint;
  size: bigint;
  status: string;
  failure_reason: string | null;
  created_at: Date;
  ended_at: Date | null;
};

/** The public fields of the recording `c` in the room `r`. */
const recordingColumns = Prisma.sql`
  c.id, c.room_id, r.name as room_name, c.archive_id, c.title, c.duration, c.size, c.status, c.failure_reason,
  c.created_at, c.ended_at`;

/** A recording with its internal fields. `size` in bytes, `duration` in seconds. */
export type FoundRecording = {
  id: number;
  workspaceId: number;
  roomId: number;
  archiveId: string;
  /** The title, or the name of the room if there is no title. */
  name: string;
  status: RecordingStatus;
  fileKey: string | null;
  sha256: Uint8Array<ArrayBuffer> | null;
  size: bigint;
  duration: bigint;
};

/** The recordings of all rooms of the caller, newest first. `origin` is the origin of the URLs. */
export function listOwnRecordings(
  services: Db,
  caller: Caller,
  page: ListPageInput,
  origin: string,
): Promise<Recording[]> {
  return listRecordings(services, isOwn(caller), page, origin);
}

async function listRecordings(
  { db }: Db,
  condition: Prisma.Sql,
  page: ListPageInput,
  origin: string,
): Promise<Recording[]> {
  const rows = await db.$queryRaw<RecordingRow[]>`
    select ${recordingColumns}
    from rooms r join recordings c on c.workspace_id = r.workspace_id and c.room_id = r.id
    where ${condition} order by c.created_at desc, c.id desc ${limitOffset(page)}`;
  return rows.map((row) => toRecording(row, origin));
}

function toRecording(row: RecordingRow, origin: string): Recording {
  return {
    id: row.id,
    room_id: row.room_id,
    room_name: row.room_name,
    archive_id: row.archive_id,
    title: row.title,
    url: row.status === 'available' ? `${origin}/api/dashboard/recordings/${row.id}/download` : null,
    duration: Number(row.duration),
    size: Number(row.size),
    status: toRecordingStatus(row.status),
    failure_reason: row.failure_reason,
    created_at: toUnixSeconds(row.created_at),
    ended_at: row.ended_at && toUnixSeconds(row.ended_at),
  };
}

/** The recordings of a room that the caller manages, newest first. Throws 404 "Room not found". */
export async function listRoomRecordings(
  services: Db,
  caller: Caller,
  { name, ...page }: RoomInput & ListPageInput,
  origin: string,
): Promise<Recording[]> {
  const room = await readRoom(services.db, caller, { name });
  return listRecordings(
    services,
    Prisma.sql`r.workspace_id = ${room.workspace_id} and r.id = ${room.id}`,
    page,
    origin,
  );
}

/** All recordings of the workspace, newest first. */
export function listWorkspaceRecordings(
  services: Db,
  { workspaceId }: Actor,
  page: ListPageInput,
  origin: string,
): Promise<Recording[]> {
  return listRecordings(services, Prisma.sql`r.workspace_id = ${workspaceId}`, page, origin);
}

/** One recording of a workspace. Does not check access. Throws 404. */
export async function readRecording(
  db: Database | Tx,
  { workspaceId, recordingId }: { workspaceId: number; recordingId: number },
  origin: string,
): Promise<Recording> {
  const [row] = await db.$queryRaw<RecordingRow[]>`
    select ${recordingColumns}
    from recordings c join rooms r on r.workspace_id = c.workspace_id and r.id = c.room_id
    where c.workspace_id = ${workspaceId} and c.id = ${recordingId}`;
  if (!row) throw notFound('Recording');
  return toRecording(row, origin);
}

/**
 * A recording of a room that meets the condition: one that the caller manages, or only one of their own. Throws the
 * same 404 for an unknown recording and for one whose room does not meet the condition.
 */
export async function findRecording(
  db: Database | Tx,
  caller: Caller,
  { recordingId }: RecordingInput,
  condition: typeof isOwn = isManaged,
): Promise<FoundRecording> {
  // Starts from the caller's memberships, so that each step uses a primary key, which begins with the workspace.
  const [recording] = await db.$queryRaw<(Omit<FoundRecording, 'status'> & { status: string })[]>`
    select c.id, c.workspace_id as "workspaceId", c.room_id as "roomId", c.archive_id as "archiveId",
      coalesce(nullif(c.title, ''), r.name) as name, c.status, c.file_key as "fileKey", c.sha256, c.size, c.duration
    from members m
    join recordings c on c.workspace_id = m.workspace_id and c.id = ${recordingId}
    join rooms r on r.workspace_id = c.workspace_id and r.id = c.room_id
    where m.user_id = ${caller.userId} and ${condition(caller)}`;
  if (!recording) throw notFound('Recording');
  return { ...recording, status: toRecordingStatus(recording.status) };
}

/**
 * Returns a URL that serves the recording for 15 minutes. `origin` is the origin of that URL. Throws the same 404 for
 * an unknown recording, for one of a room that the caller does not manage, and for one that is not available.
 */
export async function createDownload(
  { db, store, clock }: Pick<Services, 'db' | 'store' | 'clock'>,
  caller: Caller,
  input: RecordingInput,
  origin: string,
): Promise<Download> {
  const { status, fileKey, name } = await findRecording(db, caller, input);
  if (status !== 'available' || fileKey === null) throw notFound('Recording');
  return signDownload({ store, clock }, fileKey, { filename: name, contentType: 'video/mp4', origin });
}
