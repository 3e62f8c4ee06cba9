/**
 * Brings one recording of the LiveKit server of the operator forward: starts it, stops it when the recording is stopped
 * or deleted, and stores its file. Only the server is asked what it does; what it says of a file is not believed.
 */
import { Readable } from 'node:stream';
import { lockWorkspace } from '../../../auth/workspace-lock.ts';
import { AppError } from '../../../core/errors.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { transact } from '../../../db/client.ts';
import { sqlIn } from '../../../db/sql.ts';
import type { RowOf } from '../../../db/statements.ts';
import { backoffMs } from '../../../jobs/lease-queue.ts';
import { WorkerStopping } from '../../../jobs/worker.ts';
import { QuotaReached, requireWithinQuota } from '../../../quotas/quotas.ts';
import type { LivekitEgress, Services } from '../../../services.ts';
import { StorageUnavailableError } from '../../../storage/object-store.ts';
import { endCapture } from '../../recordings/egress.ts';
import { advanceRecording, type RecordingKey } from '../../recordings/recording-lifecycle.ts';
import { storeRecordingFile } from '../../recordings/store-recording-file.ts';
import {
  EGRESS_BYTES_PER_SECOND,
  type Egress,
  type EgressService,
  type EgressSettings,
} from '../livekit-calls/egress-service.ts';
import { LivekitFailed } from '../livekit-calls/livekit-caller.ts';
import {
  type EgressLease,
  findRecordingOfEgress,
  holdEgress,
  livekitEgresses,
  removeEgress,
  saveEgressId,
} from './egress-queue.ts';

/** How long the server may take to begin. People who pressed "Record" would not notice a later beginning. */
const START_MS = MINUTE_MS;
/** How long a start that was not answered may still become a recording, which then has to be stopped. */
const LATE_START_MS = 10 * MINUTE_MS;
const POLL_MS = 5 * SECOND_MS;
/** While the server stores the file. */
const ENDING_POLL_MS = 2 * SECOND_MS;
const BACKOFF = { firstMs: POLL_MS, maxMs: MINUTE_MS };
/** The pause after the file could not be stored here. */
const STORE_AGAIN_MS = 5 * MINUTE_MS;
/** How long after the end of a recording its file is waited for. */
const GIVE_UP_MS = DAY_MS;

const NOT_BEGUN = 'The media server did not begin to record';

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
  if (livekit === null || livekitEgress === null) {
    // Other processes may have the settings, for example during a restart of all.
    if (isOld(services, lease, GIVE_UP_MS))
      return end(services, lease, recording, 'The service has no LiveKit server any more');
    return wait({ services, lease }, MINUTE_MS);
  }
  const egress = { ...livekitEgress, server: { ...livekit, isTrusted: true } };
  const context = { services, egresses, egress, lease, signal, recording };
  try {
    await bringForward(context);
  } catch (error) {
    if (signal.reason instanceof WorkerStopping) return livekitEgresses.release(db.sql, lease, services.clock.now());
    if (!isTemporary(error)) throw error;
    log.warn({ workspaceId, recordingId, attempt, reason: error.message }, 'An egress could not be brought forward');
    if (isOverdue(context)) return end(services, lease, recording, reasonOf(error));
    if (lease.egressId === null && isOld(services, lease, START_MS)) await failRecording(context, NOT_BEGUN);
    await wait(context, error instanceof LivekitFailed ? backoffMs(attempt, BACKOFF) : STORE_AGAIN_MS);
  }
}

async function bringForward(context: Context): Promise<void> {
  const { services, egresses, egress, lease, signal, recording } = context;
  const task = { room: lease.roomName, path: `${egress.target.prefix}/${nameOf(lease)}`, egressId: lease.egressId };
  const isWanted = recording !== null && recording.endedAt === null && !isFinished(recording);
  const found = await egresses.find(egress, task, signal);
  if (found === null && lease.egressId !== null) return collect(context);
  if (found === null && (!isWanted || isOld(services, lease, START_MS))) return giveUpStart(context);
  const current: Egress = found ?? (await egresses.start(egress, task, signal));
  if (lease.egressId === null) await services.db.sql.run(saveEgressId, { ...lease, egressId: current.egressId });
  if (current.state === 'done') return collect(context);
  if (current.state === 'failed') return fail(context, 'The media server could not record the meeting');
  if (isWanted && !isAtMaximum(context)) return wait(context, POLL_MS);
  if (isWanted) await endCapture(services.db.sql, services.clock.now(), lease);
  if (current.state === 'running') await egresses.stop(egress, current.egressId, signal);
  if (isOverdue(context)) return fail(context, 'The media server has not finished the recording in a day');
  await wait(context, ENDING_POLL_MS);
}

/** The recording fails, but the server is looked at for some minutes more: it may have been slow to begin. */
async function giveUpStart(context: Context): Promise<void> {
  const { services, lease } = context;
  // It was never asked.
  if (lease.attempt === 1 || isOld(services, lease, LATE_START_MS)) return fail(context, NOT_BEGUN);
  await failRecording(context, NOT_BEGUN);
  await wait(context, MINUTE_MS / 2);
}

/** Stores the file that the server has written, and removes it from where it was. */
async function collect(context: Context): Promise<void> {
  const { services, egress, lease, signal, recording } = context;
  if (recording === null || isFinished(recording)) return discard(context);
  const size = await readSize(context);
  if (size === null) return fail(context, 'The media server has stored no file');
  // Before the file is copied for nothing.
  requireWithinQuota(services.settings.quotas, 'bytes', recording.storedBytes + size);
  const key = { workspaceId: lease.workspaceId, roomId: recording.roomId, archiveId: lease.archiveId };
  const stream = Readable.from(readFile(await egress.files.read(nameOf(lease))), { objectMode: false });
  try {
    await storeRecordingFile(services, key, { file: { stream }, signal });
  } catch (error) {
    // It was deleted or uploaded meanwhile, or is no video.
    if (isFull(error) || !(error instanceof AppError)) throw error;
    if (!['NOT_FOUND', 'CONFLICT', 'BAD_REQUEST'].includes(error.code)) throw error;
    return fail(context, error.message);
  } finally {
    stream.destroy();
  }
  await discard(context);
}

/** The number of bytes that the server has stored; null if there is no file. */
async function readSize({ egress, lease }: Context): Promise<number | null> {
  for await (const { key, size } of egress.files.list(nameOf(lease))) if (key === nameOf(lease)) return size;
  return null;
}

/** A connection that breaks is a failure of the store. */
async function* readFile(source: Readable): AsyncIterable<Buffer> {
  try {
    yield* source;
  } catch (error) {
    throw new StorageUnavailableError('The object store could not read an object', error);
  }
}

/** Ends a recording that has no file. What the server has written of it is removed. */
async function fail({ services, egress, lease, signal, recording }: Context, reason: string): Promise<void> {
  await egress.files.remove(nameOf(lease), { signal });
  await end(services, lease, recording, reason);
}

/** Ends the work on a recording that needs nothing any more. */
async function discard({ services, egress, lease, signal }: Context): Promise<void> {
  await egress.files.remove(nameOf(lease), { signal });
  await services.db.sql.run(removeEgress, lease);
}

/** Ends the work on a recording, which fails unless it is finished. */
function end(services: Services, lease: EgressLease, recording: Recording | null, reason: string): Promise<void> {
  return settle(services, lease, recording, { statement: removeEgress, reason });
}

/** The recording fails, and the work on it goes on. */
function failRecording({ services, lease, recording }: Context, reason: string): Promise<void> {
  return settle(services, lease, recording, { statement: holdEgress, reason });
}

/** Changes nothing if another process has the lease. */
async function settle(
  services: Services,
  lease: EgressLease,
  recording: Recording | null,
  { statement, reason }: { statement: typeof removeEgress | typeof holdEgress; reason: string },
): Promise<void> {
  const { db, clock } = services;
  const { workspaceId, archiveId } = lease;
  await transact(db, async (tx) => {
    const sql = sqlIn(tx);
    if (recording !== null) await lockWorkspace(tx, workspaceId, 'Recording');
    const [held] = await sql.run(statement, lease);
    if (held === undefined || recording === null || isFinished(recording)) return;
    const key: RecordingKey = { workspaceId, roomId: recording.roomId, archiveId };
    await advanceRecording(tx, clock.now(), key, { status: 'failed', failureReason: reason });
  }).catch((error: unknown) => {
    // It has been deleted meanwhile, which is found at the next attempt.
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
  });
}

/** Whether the file may soon be as large as a recording can be. */
function isAtMaximum({ services, recording }: Context): boolean {
  if (recording === null) return false;
  const seconds = (services.clock.now().getTime() - recording.createdAt.getTime()) / SECOND_MS;
  return (seconds + POLL_MS / SECOND_MS) * EGRESS_BYTES_PER_SECOND >= services.settings.maxRecordingBytes;
}

function wait({ services: { db, clock }, lease }: Pick<Context, 'services' | 'lease'>, ms: number): Promise<void> {
  return livekitEgresses.release(db.sql, lease, new Date(clock.now().getTime() + ms));
}

function isOld({ clock }: Pick<Services, 'clock'>, { createdAt }: EgressLease, ms: number): boolean {
  return clock.now().getTime() >= createdAt.getTime() + ms;
}

function isOverdue({ services, lease, recording }: Context): boolean {
  if (recording !== null && recording.endedAt === null && !isFinished(recording)) return false;
  const endedAt = recording?.endedAt ?? lease.createdAt;
  return services.clock.now().getTime() >= endedAt.getTime() + GIVE_UP_MS;
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

function reasonOf(error: Error): string {
  if (error instanceof LivekitFailed) return 'The media server did not answer in time';
  return `The file could not be stored in time: ${error.message}`;
}

/** The key of the file below the prefix. */
function nameOf({ archiveId }: EgressLease): string {
  return `${archiveId}.mp4`;
}
