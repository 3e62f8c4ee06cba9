/** What the steps of an egress have in common: its row, its recording, and how both end. */
import { lockWorkspace } from '../../../auth/workspace-lock.ts';
import { AppError } from '../../../core/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../../core/time.ts';
import { transact } from '../../../db/client.ts';
import { sqlIn } from '../../../db/sql.ts';
import type { RowOf } from '../../../db/statements.ts';
import { WorkerStopping } from '../../../jobs/worker.ts';
import { QuotaReached } from '../../../quotas/quotas.ts';
import type { LivekitEgress, Services } from '../../../services.ts';
import { StorageUnavailableError } from '../../../storage/object-store.ts';
import { advanceRecording, type RecordingKey } from '../../recordings/recording-lifecycle.ts';
import type { EgressSettings } from '../livekit-calls/egress-service.ts';
import { LivekitFailed } from '../livekit-calls/livekit-caller.ts';
import { type EgressLease, findRecordingOfEgress, holdEgress, livekitEgresses, removeEgress } from './egress-queue.ts';

/** How long after the end of a recording its file is waited for. */
const GIVE_UP_MS = DAY_MS;

type Recording = RowOf<typeof findRecordingOfEgress>;
export type EgressContext = {
  services: Services;
  egress: LivekitEgress & EgressSettings;
  lease: EgressLease;
  signal: AbortSignal;
  /** Null if it has been deleted. */
  recording: Recording | null;
};

/**
 * Does a step. If it fails in a way that may pass, calls `onFailure`, unless the recording has ended a day ago: then it
 * is given up.
 */
export async function runStep(
  services: Services,
  lease: EgressLease,
  signal: AbortSignal,
  {
    step,
    onFailure,
  }: {
    step: (context: EgressContext) => Promise<void>;
    onFailure: (context: EgressContext) => Promise<void>;
  },
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
  const context = { services, egress, lease, signal, recording };
  try {
    await step(context);
  } catch (error) {
    if (signal.reason instanceof WorkerStopping) return livekitEgresses.release(db.sql, lease, services.clock.now());
    if (!isTemporary(error)) throw error;
    log.warn({ workspaceId, recordingId, attempt, reason: error.message }, 'An egress could not be brought forward');
    if (isOverdue(context)) return end(services, lease, recording, reasonOf(error));
    await onFailure(context);
  }
}

/** Ends a recording that has no file. What the server has written of it is removed. */
export async function fail({ services, egress, lease, signal, recording }: EgressContext, reason: string) {
  await egress.files.remove(nameOf(lease), { signal });
  await end(services, lease, recording, reason);
}

/** Ends the work on a recording that needs nothing any more. */
export async function discard({ services, egress, lease, signal }: EgressContext): Promise<void> {
  await egress.files.remove(nameOf(lease), { signal });
  await services.db.sql.run(removeEgress, lease);
}

/** Ends the work on a recording, which fails unless it is finished. */
function end(services: Services, lease: EgressLease, recording: Recording | null, reason: string): Promise<void> {
  return settle(services, lease, recording, { statement: removeEgress, reason });
}

/** The recording fails, and the work on it goes on. */
export function failRecording({ services, lease, recording }: EgressContext, reason: string): Promise<void> {
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

export function wait({ services, lease }: Pick<EgressContext, 'services' | 'lease'>, ms: number): Promise<void> {
  const { db, clock } = services;
  return livekitEgresses.release(db.sql, lease, new Date(clock.now().getTime() + ms));
}

export function isOld({ clock }: Pick<Services, 'clock'>, { createdAt }: EgressLease, ms: number): boolean {
  return clock.now().getTime() >= createdAt.getTime() + ms;
}

export function isOverdue({ services, lease, recording }: EgressContext): boolean {
  if (recording !== null && recording.endedAt === null && !isFinished(recording)) return false;
  const endedAt = recording?.endedAt ?? lease.createdAt;
  return services.clock.now().getTime() >= endedAt.getTime() + GIVE_UP_MS;
}

export function isFinished({ status, hasFile }: Recording): boolean {
  return hasFile || status === 'available' || status === 'failed';
}

/** What may pass: the server or the store does not answer, or the workspace is full. */
function isTemporary(error: unknown): error is Error {
  return error instanceof LivekitFailed || error instanceof StorageUnavailableError || isFull(error) || isOutage(error);
}

export function isFull(error: unknown): error is QuotaReached {
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
export function nameOf({ archiveId }: EgressLease): string {
  return `${archiveId}.mp4`;
}
