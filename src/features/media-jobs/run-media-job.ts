/** Looks at one file: reads the duration of an item, or makes a recording seekable and completes it. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { AppError } from '../../core/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { LeaseLost } from '../../jobs/worker.ts';
import { beginsWithEbml } from '../../media/file-type.ts';
import { MediaTimeout, runInThread, startThread, UnreadableFile } from '../../media/media-threads.ts';
import { readDuration, readRangeOf } from '../../media/read-duration.ts';
import type { Services } from '../../services.ts';
import { isDiscarded, removeDiscardedObject } from '../../storage/discarded-objects.ts';
import { ObjectMissingError } from '../../storage/object-store.ts';
import { completeItem } from '../library/complete-item.ts';
import { finishRecording, type RecordingFile } from '../recordings/finish-recording.ts';
import { type MediaLease, nameMediaOutput, releaseMediaJob } from './media-queue.ts';

/** How long the duration of one file is tried for. */
const DURATION_MS = 10 * SECOND_MS;
/** Files that nobody can read in so many attempts stay as they are. */
const MAX_ATTEMPTS = 5;
/** How long a thread may compute before it asks for more bytes. */
const SILENCE_MS = MINUTE_MS;
/** How long one file may take: this, and a second for each of so many bytes. */
const MIN_REMUX_MS = 10 * MINUTE_MS;
const BYTES_PER_SECOND = 1024 * 1024;

type StoredRecording = { workspaceId: number; fileKey: string; size: number; type: 'video/mp4' | 'video/webm' };

/**
 * Looks at a leased file, and removes it from the queue. If the store fails, it is tried again later. `signal` is
 * aborted when the process stops, which releases the lease, or has lost the lease. Never rejects.
 */
export async function runMediaJob(services: Services, lease: MediaLease, signal: AbortSignal): Promise<void> {
  try {
    await (lease.itemId === null
      ? processRecording(services, lease, signal)
      : processItem(services, lease, lease.itemId));
  } catch (error) {
    const isLost = error instanceof LeaseLost || signal.reason instanceof LeaseLost;
    if (isLost || isDeleted(error)) return;
    const isFailed = !signal.aborted;
    if (isFailed) services.log.warn({ err: error, ...lease }, 'A media job failed; it will be tried again');
    await releaseMediaJob(services, lease, { isFailed }).catch((failure: unknown) =>
      // Another attempt follows when the lease expires.
      services.log.error({ err: failure }, 'Failed to release a media job'),
    );
  }
}

/** Whether the workspace, the item or the recording was deleted, and with it the job. */
function isDeleted(error: unknown): boolean {
  return error instanceof AppError && error.code === 'NOT_FOUND';
}

async function processItem(services: Services, lease: MediaLease, itemId: number): Promise<void> {
  const { workspaceId } = lease;
  const where = { workspaceId_id: { workspaceId, id: itemId } };
  const item = await services.db.libraryItem.findUnique({ where, select: { fileKey: true, size: true } });
  if (item === null) return;
  const file = { workspaceId, fileKey: item.fileKey, size: Number(item.size), type: 'video/mp4' } as const;
  const { duration, isPending } = await readDuration(services, file, DURATION_MS);
  if (isPending && lease.attempt < MAX_ATTEMPTS) return releaseMediaJob(services, lease, { isFailed: true });
  await transact(services.db, async (tx) => {
    await lockWorkspace(tx, workspaceId, 'Item');
    await endJob(tx, lease);
    if (duration !== null) await completeItem(tx, services.clock.now(), { workspaceId, itemId }, { duration });
  });
}

/**
 * Completes the recording, with the remuxed file if there is one. In one transaction the recording gets its file and
 * the job ends, so a job that is repeated does not complete a recording twice.
 */
async function processRecording(services: Services, lease: MediaLease, signal: AbortSignal): Promise<void> {
  const { workspaceId, recordingId } = lease;
  if (recordingId === null) throw new Error('A media job has neither an item nor a recording');
  const where = { workspaceId_id: { workspaceId, id: recordingId } };
  const select = { fileKey: true, size: true, mediaType: true };
  const found = await services.db.recording.findUnique({ where, select });
  if (!found?.fileKey) return;
  const type = found.mediaType === 'video/webm' ? 'video/webm' : 'video/mp4';
  const stored: StoredRecording = { workspaceId, fileKey: found.fileKey, size: Number(found.size), type };
  const remuxed = await tryToRemux(services, lease, stored, signal);
  let duration = remuxed?.duration ?? null;
  if (duration === null) {
    const read = await readDuration(services, stored, DURATION_MS);
    // The store or this process may have been busy, but no recording is kept back for long because of its duration.
    if (remuxed === null && read.isPending && lease.attempt === 1)
      return releaseMediaJob(services, lease, { isFailed: true });
    duration = read.duration;
  }
  await transact(services.db, async (tx) => {
    await lockWorkspace(tx, workspaceId, 'Recording');
    const key = { workspaceId, recordingId, fileKey: stored.fileKey };
    await finishRecording(services, tx, services.clock.now(), key, { duration, file: remuxed?.file ?? null });
    await endJob(tx, lease);
  });
  // An upload that may be continued needs the file that it has sent.
  const { fileKey } = stored;
  if (remuxed !== null && (await isDiscarded(services.db, fileKey))) await removeDiscardedObject(services, fileKey);
}

/** Removes the job. Throws LeaseLost if another process has the lease. */
async function endJob(tx: Tx, { workspaceId, id, attempt }: MediaLease): Promise<void> {
  const { count } = await tx.mediaJob.deleteMany({ where: { workspaceId, id, attempts: attempt } });
  if (count === 0) throw new LeaseLost();
}

type Remuxed = { file: RecordingFile; duration: number | null };

/**
 * Writes the seekable file to the store. Returns null if the file stays as it is: because it is seekable, because of
 * its codecs, or because it cannot be read. Throws if the store fails, until the last attempt.
 */
async function tryToRemux(
  services: Services,
  lease: MediaLease,
  stored: StoredRecording,
  signal: AbortSignal,
): Promise<Remuxed | null> {
  // Attempts that ended with their process have not been counted as failed.
  if (lease.attempt > MAX_ATTEMPTS) return null;
  try {
    return await remuxInThread(services, lease, stored, signal);
  } catch (error) {
    // A file that takes too long twice would keep the worker from the others.
    const isTooSlow = error instanceof MediaTimeout && lease.attempt > 1;
    const isFinal = isTooSlow || error instanceof UnreadableFile || lease.attempt >= MAX_ATTEMPTS;
    if (signal.aborted || error instanceof LeaseLost || !isFinal) throw signal.aborted ? signal.reason : error;
    if (error instanceof ObjectMissingError) throw error;
    services.log.warn({ err: error, key: stored.fileKey }, 'A recording could not be remuxed; it stays as it is');
    return null;
  }
}

async function remuxInThread(
  services: Services,
  lease: MediaLease,
  { fileKey, size }: StoredRecording,
  stopping: AbortSignal,
): Promise<Remuxed | null> {
  const { store } = services;
  const worker = startThread();
  const failed = new AbortController();
  const signal = AbortSignal.any([stopping, failed.signal]);
  const hash = createHash('sha256');
  const bytes = new PassThrough();
  let written = 0;
  let key = '';
  let mediaType: StoredRecording['type'] = 'video/mp4';
  let putting = Promise.resolve();
  const write = async (chunk: Uint8Array): Promise<void> => {
    if (written === 0) {
      key = await nameMediaOutput(services, lease);
      if (beginsWithEbml(chunk)) mediaType = 'video/webm';
      putting = store.put(key, bytes, { contentType: mediaType, signal });
      // Awaited at the end. Until then, a failure must end the thread.
      putting.catch((error: unknown) => failed.abort(error));
    }
    hash.update(chunk);
    written += chunk.length;
    if (!bytes.write(chunk)) await once(bytes, 'drain', { signal });
  };
  try {
    const timeoutMs = MIN_REMUX_MS + (size / BYTES_PER_SECOND) * SECOND_MS;
    const access = { read: readRangeOf(store, fileKey), write };
    const limits = { timeoutMs, silenceMs: SILENCE_MS, signal };
    const { isRemuxed, duration } = await runInThread(worker, { kind: 'remux', size }, access, limits);
    if (!isRemuxed) return null;
    bytes.end();
    await putting;
    return { duration, file: { fileKey: key, size: written, sha256: new Uint8Array(hash.digest()), mediaType } };
  } finally {
    failed.abort(new Error('The recording was not remuxed'));
    await worker.terminate();
  }
}
