/**
 * Brings one recording of the LiveKit server of the service forward: starts it, stops it when the recording is stopped
 * or deleted, and stores its file. Only the server is asked what it does; what it says of a file is not believed.
 */

import { lockWorkspace } from '../../../auth/workspace-lock.ts';
import { AppError } from '../../../core/errors.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { transact } from '../../../db/client.ts';
import { sqlIn } from '../../../db/sql.ts';
import type { RowOf } from '../../../db/statements.ts';
import { WorkerStopping } from '../../../jobs/worker.ts';
import { QuotaReached } from '../../../quotas/quotas.ts';
import type { LivekitEgress, Services } from '../../../services.ts';
import { ObjectMissingError, StorageUnavailableError } from '../../../storage/object-store.ts';
import { advanceRecording, type RecordingKey } from '../../recordings/recording-lifecycle.ts';
import { storeRecordingFile } from '../../recordings/store-recording-file.ts';
import type { Egress, EgressService, EgressSettings } from '../livekit-calls/egress-service.ts';
import { LivekitFailed } from '../livekit-calls/livekit-caller.ts';
import {
  type EgressLease,
  findRecordingOfEgress,
  livekitEgresses,
  removeEgress,
  saveEgressId,
} from './egress-queue.ts';

/** How long the server may take to begin. People who pressed "Record" would not notice a later beginning. */
const START_MS = MINUTE_MS;
const POLL_MS = 5 * SECOND_MS;
/** While the server stores the file. */
const ENDING_POLL_MS = 2 * SECOND_MS;
/** The pause after the file could not be stored here. */
const STORE_AGAIN_MS = 5 * MINUTE_MS;
/** How long after the end of a recording its file is waited for. */
const GIVE_UP_MS = DAY_MS;

type Recording = RowOf<typeof findRecordingOfEgress>;
type Context = {
  services: Services;
  egresses: EgressService;
  egress: LivekitEgress & EgressSettings;
  lease: EgressLease;
  signal: AbortSignal;
  /** Null if it has been deleted. */
  recording: Recording | null;
};

export async function runEgress(
  services: Services,
  egresses: EgressService,
  lease: EgressLease,
  signal: AbortSignal,
): Promise<void> {
  const { db, log, livekitEgress } = services;
  const { livekit } = services.settings.meetings;
  const { workspaceId, recordingId, attempt } = lease;
  const [recording = null] = await db.sql.run(findRecordingOfEgress, { workspaceId, recordingId });
  if (livekit === null || livekitEgress === null)
    return end(services, lease, recording, 'The service has no LiveKit server any more');
  const egress = { ...livekitEgress, server: { ...livekit, isTrusted: true } };
  const context = { services, egresses, egress, lease, signal, recording };
  try {
    await bringForward(context);
  } catch (error) {
    if (signal.reason instanceof WorkerStopping) return livekitEgresses.release(db.sql, lease, services.clock.now());
    if (!isTemporary(error)) throw error;
    log.warn({ workspaceId, recordingId, attempt, reason: error.message }, 'An egress could not be brought forward');
    if (isOverdue(context)) return end(services, lease, recording, reasonOf(error, lease));
    await wait(context, error instanceof LivekitFailed ? POLL_MS : STORE_AGAIN_MS);
  }
}

async function bringForward(context: Context): Promise<void> {
  const { services, egresses, egress, lease, signal, recording } = context;
  const task = { room: lease.roomName, path: `${egress.target.prefix}/${nameOf(lease)}`, egressId: lease.egressId };
  const isWanted = recording !== null && recording.endedAt === null && !isFinished(recording);
  const found = await egresses.find(egress, task, signal);
  if (found === null && lease.egressId !== null) return collect(context);
  if (found === null && !isWanted)
    return end(services, lease, recording, 'The recording was stopped before the media server began');
  const current: Egress = found ?? (await egresses.start(egress, task, signal));
  if (lease.egressId === null) await services.db.sql.run(saveEgressId, { ...lease, egressId: current.egressId });
  if (current.state === 'done') return collect(context);
  if (current.state === 'failed') return fail(context, 'The media server could not record the meeting');
  if (isWanted) return wait(context, POLL_MS);
  if (isOverdue(context)) return fail(context, 'The media server has not finished the recording in a day');
  if (current.state === 'running') await egresses.stop(egress, current.egressId, signal);
  await wait(context, ENDING_POLL_MS);
}

/** Stores the file that the server has written, and removes it from where it was. */
async function collect(context: Context): Promise<void> {
  const { services, egress, lease, signal, recording } = context;
  if (recording === null || isFinished(recording)) return discard(context);
  const key = { workspaceId: lease.workspaceId, roomId: recording.roomId, archiveId: lease.archiveId };
  try {
    const stream = await egress.files.read(nameOf(lease));
    await storeRecordingFile(services, key, { file: { stream }, signal });
  } catch (error) {
    if (error instanceof ObjectMissingError) return fail(context, 'The media server has stored no file');
    // It was deleted or uploaded meanwhile, or is no video.
    if (isFull(error) || !(error instanceof AppError)) throw error;
    if (!['NOT_FOUND', 'CONFLICT', 'BAD_REQUEST'].includes(error.code)) throw error;
    return fail(context, error.message);
  }
  await discard(context);
}

/** Ends a recording that has no file. What the server has written of it is removed. */
async function fail({ services, egress, lease, signal, recording }: Context, reason: string): Promise<void> {
  await egress.files.remove(nameOf(lease), { signal });
  await end(services, lease, recording, reason);
}

/** Ends the work on a recording that needs nothing any more. */
async function discard({ services, egress, lease, signal }: Context): Promise<void> {
  await egress.files.remove(nameOf(lease), { signal });
  await drop(services, lease);
}

/** Ends the work on a recording, which fails unless it is finished. */
async function end(services: Services, lease: EgressLease, recording: Recording | null, reason: string): Promise<void> {
  const { db, clock } = services;
  const { workspaceId, archiveId } = lease;
  if (recording === null || isFinished(recording)) return drop(services, lease);
  await transact(db, async (tx) => {
    await lockWorkspace(tx, workspaceId, 'Recording');
    const key: RecordingKey = { workspaceId, roomId: recording.roomId, archiveId };
    await advanceRecording(tx, clock.now(), key, { status: 'failed', failureReason: reason });
    await sqlIn(tx).run(removeEgress, lease);
  }).catch((error: unknown) => {
    // It has been deleted meanwhile, which is found at the next attempt.
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
  });
}

async function drop({ db }: Services, lease: EgressLease): Promise<void> {
  await db.sql.run(removeEgress, lease);
}

function wait({ services: { db, clock }, lease }: Context, ms: number): Promise<void> {
  return livekitEgresses.release(db.sql, lease, new Date(clock.now().getTime() + ms));
}

function isOverdue({ services, lease, recording }: Context): boolean {
  const now = services.clock.now().getTime();
  if (lease.egressId === null && now >= lease.createdAt.getTime() + START_MS) return true;
  if (recording !== null && recording.endedAt === null) return false;
  return now >= (recording?.endedAt ?? lease.createdAt).getTime() + GIVE_UP_MS;
}

function isFinished({ status, hasFile }: Recording): boolean {
  return hasFile || status === 'available' || status === 'failed';
}

/** What may pass: the server or the store does not answer, or the workspace is full. */
function isTemporary(error: unknown): error is Error {
  return error instanceof LivekitFailed || error instanceof StorageUnavailableError || isFull(error) || isOutage(error);
}

function isFull(error: unknown): error is QuotaReached {
  return error instanceof QuotaReached;
}

function isOutage(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'STORAGE_UNAVAILABLE';
}

function reasonOf(error: Error, { egressId }: EgressLease): string {
  if (!(error instanceof LivekitFailed)) return `The file could not be stored in time: ${error.message}`;
  return egressId === null ? 'The media server did not begin to record' : 'The media server did not answer in time';
}

/** The key of the file below the prefix. */
function nameOf({ archiveId }: EgressLease): string {
  return `${archiveId}.mp4`;
}
