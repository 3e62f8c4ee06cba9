/** What a provider tells of a recording, in any order: the order that it came in must not show in the end. */
import { isFinal, type RecordingStatus, toRecordingStatus } from '../../../core/recording-status.ts';
import { addRecording, advanceRecording, type RecordingKey } from '../../recordings/recording-progress.ts';
import type { MeetingFact } from '../adapters/facts.ts';
import { addCopy } from '../recording-copies/copies.ts';
import type { ApplyContext, FoundRoom } from './apply-context.ts';

export type RecordingFact = Extract<MeetingFact, { archiveId: string }>;

type Known = { id: number; status: RecordingStatus };

/**
 * Creates the recording where it was not known, which emits `recording.started`, and moves it forward as far as the fact
 * tells. A file that has an address is put down to be copied.
 */
export async function applyRecordingFact(context: ApplyContext, room: FoundRoom, fact: RecordingFact): Promise<void> {
  const { tx, now, sealer } = context;
  const key = { ...room, archiveId: fact.archiveId };
  let known = await mergeFact(context, key, fact);
  if (known === null) {
    await addRecording(tx, fact.at, { ...key, title: fact.kind === 'recording.started' ? fact.title : null }, now);
    known = await mergeFact(context, key, fact);
  }
  if (known === null) throw new Error('A recording is gone behind the lock of its workspace');
  const { id: recordingId, status } = known;
  if (isFinal(status)) return;

  if (fact.kind === 'recording.failed')
    await advanceRecording(tx, fact.at, key, { status: 'failed', failureReason: fact.reason }, now);
  if (fact.kind === 'recording.uploaded' || fact.kind === 'recording.available') {
    await advanceRecording(tx, fact.at, key, { status: 'uploaded' }, now);
    const expiresAt = fact.kind === 'recording.available' ? fact.urlExpiresAt : null;
    if (fact.file !== null)
      await addCopy(
        { tx, now, sealer },
        { workspaceId: room.workspaceId, recordingId },
        { url: fact.file.url, expiresAt },
      );
  }
}

/** Adds what a fact tells to a recording that is known; null: it is not. What is available is measured by us. */
async function mergeFact(
  { tx, now }: ApplyContext,
  { workspaceId, roomId, archiveId }: RecordingKey,
  fact: RecordingFact,
): Promise<Known | null> {
  const title = 'title' in fact ? fact.title : null;
  const { duration = null, size = null } = 'duration' in fact ? fact : {};
  const endedAt = fact.kind === 'recording.started' ? null : fact.at;
  // What is not told is null, which `least` and `greatest` pass over.
  const [row] = await tx.$queryRaw<{ id: number; status: string }[]>`
    update recordings set
      created_at = least(created_at, ${fact.at}), title = coalesce(title, ${title}::text),
      ended_at = least(ended_at, ${endedAt}::timestamptz),
      duration = case when status = 'available' then duration else greatest(duration, ${duration}::bigint) end,
      size = case when status = 'available' then size else greatest(size, ${size}::bigint) end,
      updated_at = ${now}
    where workspace_id = ${workspaceId} and room_id = ${roomId} and archive_id = ${archiveId}
    returning id, status`;
  return row ? { id: row.id, status: toRecordingStatus(row.status) } : null;
}
