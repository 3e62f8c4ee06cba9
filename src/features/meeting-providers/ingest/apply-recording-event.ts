/** Applies a provider's events about a recording. The order in which they arrive does not affect the result. */
import { type RecordingStatus, toRecordingStatus } from '../../../core/recording-status.ts';
import { sqlIn } from '../../../db/sql.ts';
import { float, int, nullable, statement, text, time } from '../../../db/statements.ts';
import { isDeleted } from '../../recordings/recording-deletions.ts';
import {
  addRecording,
  advanceRecording,
  type RecordingKey,
  reopenRecording,
} from '../../recordings/recording-lifecycle.ts';
import type { RecordingEvent } from '../adapters/provider-event.ts';
import { addCopy } from '../recording-copies/copy-queue.ts';
import type { ApplyContext } from './apply-context.ts';
import { type FoundRoom, findRoom } from './find-room.ts';
import { addUnmatched } from './unmatched-callbacks.ts';

/** `failedAt` and `offeredAt` are when the provider last reported a failure, and a file that could be fetched. */
type Times = { failedAt: Date | null; offeredAt: Date | null };
type Known = Times & { id: number; roomId: number; status: RecordingStatus };

/**
 * Adds the recording and emits `recording.started` if the recording is new, and advances it to the status that the
 * event implies. If the file has a URL, queues the file for copying. Ignores events about a deleted recording. `tx`
 * holds the workspace lock.
 */
export async function applyRecordingEvent(context: ApplyContext, event: RecordingEvent): Promise<void> {
  const { tx, now, workspaceId } = context;
  const { archiveId } = event;
  const room = await findRoom(context, event.room);
  const roomId = await findRoomOfRecording(context, event, room);
  let known = roomId === null ? null : await mergeEvent(context, { workspaceId, roomId, archiveId }, event);
  if (known === null) {
    const roomName = event.room.kind === 'name' ? event.room.name : null;
    if (await isDeleted(tx, { workspaceId, archiveId, roomName })) return;
    if (room === null) return addUnmatched(context, event, 'unknown_room');
    const title = event.kind === 'recording.started' ? event.title : null;
    await addRecording(tx, event.at, { workspaceId, roomId: room.id, archiveId, title }, now);
    known = await mergeEvent(context, { workspaceId, roomId: room.id, archiveId }, event);
  }
  if (known === null) throw new Error('A recording disappeared while its workspace was locked');
  await advance(context, { workspaceId, roomId: known.roomId, archiveId }, known, event);
}

const findRoomOf = statement('find-room-of-recording', {
  params: { workspaceId: int, archiveId: text, roomId: nullable(int) },
  returns: { roomId: int },
  sql: `
    select room_id as "roomId" from recordings where workspace_id = $workspaceId and archive_id = $archiveId
    order by room_id = $roomId desc nulls last, id desc limit 1`,
});

/**
 * Returns the room of the recording. If the event has a session, the recording is looked up by its archive id in all
 * rooms of the workspace, because a room may get a new session before the recording of the previous session is
 * complete. If the event names the room, the recording is looked up only in that room, because providers that send room
 * names have archive ids that are unique only within a room.
 */
async function findRoomOfRecording(
  { tx, workspaceId }: ApplyContext,
  { room: reference, archiveId }: RecordingEvent,
  room: FoundRoom | null,
): Promise<number | null> {
  if (reference.kind === 'name') return room?.id ?? null;
  const roomId = room?.id ?? null;
  const [recording] = await sqlIn(tx).run(findRoomOf, { workspaceId, archiveId, roomId });
  return recording?.roomId ?? null;
}

async function advance(context: ApplyContext, key: RecordingKey, known: Known, event: RecordingEvent): Promise<void> {
  const { tx, now } = context;
  if (known.status === 'available') return;
  if (event.kind === 'recording.failed') {
    if (known.offeredAt !== null && known.offeredAt > event.at) return;
    await advanceRecording(tx, event.at, key, { status: 'failed', failureReason: event.reason }, now);
  }
  if (event.kind === 'recording.uploaded' || event.kind === 'recording.available') {
    if (known.status === 'failed' && !isReopenedBy(event, known)) return;
    await advanceRecording(tx, event.at, key, { status: 'uploaded' }, now);
    if (event.file === null) return;
    const copy = { workspaceId: key.workspaceId, recordingId: known.id };
    const isOwnStorage = event.kind === 'recording.uploaded';
    const file = { url: event.file.url, expiresAt: isOwnStorage ? null : event.urlExpiresAt, isOwnStorage };
    if (await addCopy(context, copy, file)) await reopenRecording(tx, now, copy);
  }
}

/** Whether the event offers the file of a failed recording, and the provider did not report a later failure. */
function isReopenedBy({ kind, at }: RecordingEvent, { failedAt }: Times): boolean {
  return kind === 'recording.available' && (failedAt === null || at >= failedAt);
}

/** `least` and `greatest` ignore null, which means that the event does not contain the value. */
const mergeStatement = statement('merge-recording-event', {
  params: {
    workspaceId: int,
    roomId: int,
    archiveId: text,
    at: time,
    title: nullable(text),
    endedAt: nullable(time),
    failedAt: nullable(time),
    offeredAt: nullable(time),
    duration: nullable(float),
    size: nullable(float),
    now: time,
  },
  returns: { id: int, status: text, failedAt: nullable(time), offeredAt: nullable(time) },
  sql: `
    update recordings set
      created_at = least(created_at, $at), title = coalesce(title, $title),
      ended_at = least(ended_at, $endedAt), failed_at = greatest(failed_at, $failedAt),
      offered_at = greatest(offered_at, $offeredAt),
      duration = case when status = 'available' then duration else greatest(duration, $duration::bigint) end,
      size = case when status = 'available' then size else greatest(size, $size::bigint) end,
      updated_at = $now
    where workspace_id = $workspaceId and room_id = $roomId and archive_id = $archiveId
    returning id, status, failed_at as "failedAt", offered_at as "offeredAt"`,
});

/**
 * Merges an event into an existing recording, or returns null if there is none. Keeps the earliest times and the
 * largest duration and size. Once the recording is available, its duration and size are those of the stored file and no
 * longer change.
 */
async function mergeEvent({ tx, now }: ApplyContext, key: RecordingKey, event: RecordingEvent): Promise<Known | null> {
  const title = 'title' in event ? event.title : null;
  const { duration = null, size = null } = 'duration' in event ? event : {};
  const endedAt = event.kind === 'recording.started' ? null : event.at;
  const failedAt = event.kind === 'recording.failed' ? event.at : null;
  const offeredAt = event.kind === 'recording.available' ? event.at : null;
  const values = { at: event.at, title, endedAt, failedAt, offeredAt, duration, size, now };
  const [row] = await sqlIn(tx).run(mergeStatement, { ...key, ...values });
  return row ? { ...row, roomId: key.roomId, status: toRecordingStatus(row.status) } : null;
}
