/**
 * Applies what a provider reports about a recording. The result does not depend on the order in which events arrive.
 */
import { isFinal, type RecordingStatus, toRecordingStatus } from '../../../core/recording-status.ts';
import type { Sealer } from '../../../core/sealing.ts';
import type { Tx } from '../../../db/client.ts';
import { addRecording, advanceRecording, type RecordingKey } from '../../recordings/recording-lifecycle.ts';
import type { RecordingEvent } from '../adapters/provider-event.ts';
import { addCopy } from '../recording-copies/copy-queue.ts';

type Context = { tx: Tx; now: Date; sealer: Sealer };

type Known = { id: number; status: RecordingStatus };

/**
 * Adds the recording if it is new, which emits `recording.started`, and advances it to the status that the event
 * implies. A file with a URL is queued to be copied. `tx` holds the workspace's lock.
 */
export async function applyRecordingEvent(
  context: Context,
  room: { workspaceId: number; roomId: number },
  event: RecordingEvent,
): Promise<void> {
  const { tx, now } = context;
  const key = { ...room, archiveId: event.archiveId };
  let known = await mergeEvent(context, key, event);
  if (known === null) {
    await addRecording(tx, event.at, { ...key, title: event.kind === 'recording.started' ? event.title : null }, now);
    known = await mergeEvent(context, key, event);
  }
  if (known === null) throw new Error('A recording disappeared while its workspace was locked');
  const { id: recordingId, status } = known;
  if (isFinal(status)) return;

  if (event.kind === 'recording.failed')
    await advanceRecording(tx, event.at, key, { status: 'failed', failureReason: event.reason }, now);
  if (event.kind === 'recording.uploaded' || event.kind === 'recording.available') {
    await advanceRecording(tx, event.at, key, { status: 'uploaded' }, now);
    const expiresAt = event.kind === 'recording.available' ? event.urlExpiresAt : null;
    if (event.file !== null)
      await addCopy(context, { workspaceId: room.workspaceId, recordingId }, { url: event.file.url, expiresAt });
  }
}

/**
 * Merges an event into a known recording; returns null if there is none. Keeps the earliest times and the largest
 * duration and size. Once the recording is available, its duration and size are those of the stored file.
 */
async function mergeEvent(
  { tx, now }: Context,
  { workspaceId, roomId, archiveId }: RecordingKey,
  event: RecordingEvent,
): Promise<Known | null> {
  const title = 'title' in event ? event.title : null;
  const { duration = null, size = null } = 'duration' in event ? event : {};
  const endedAt = event.kind === 'recording.started' ? null : event.at;
  // `least` and `greatest` ignore null, which stands for a value that the event does not carry.
  const [row] = await tx.$queryRaw<{ id: number; status: string }[]>`
    update recordings set
      created_at = least(created_at, ${event.at}), title = coalesce(title, ${title}::text),
      ended_at = least(ended_at, ${endedAt}::timestamptz),
      duration = case when status = 'available' then duration else greatest(duration, ${duration}::bigint) end,
      size = case when status = 'available' then size else greatest(size, ${size}::bigint) end,
      updated_at = ${now}
    where workspace_id = ${workspaceId} and room_id = ${roomId} and archive_id = ${archiveId}
    returning id, status`;
  return row ? { id: row.id, status: toRecordingStatus(row.status) } : null;
}
