/** Copies one recording from its provider into the object store. */
import { Readable } from 'node:stream';
import { AppError } from '../../../core/errors.ts';
import type { Ticker } from '../../../core/ticker.ts';
import { LeaseLost } from '../../../jobs/worker.ts';
import { QuotaReached } from '../../../quotas/quotas.ts';
import type { Services } from '../../../services.ts';
import { storeRecordingFile } from '../../recordings/store-recording-file.ts';
import {
  type CopyFailure,
  type CopyLease,
  openUrl,
  recordFailure,
  releaseLease,
  removeCopy,
  renewLease,
} from './copy-queue.ts';
import { type FileFetcher, FileUnavailable } from './fetch-file.ts';
import { monitorTransfer } from './transfer-monitor.ts';

/** `dropped` means that the recording no longer exists or another process is copying it. */
export type CopyOutcome = 'copied' | 'failed' | 'dropped';

export type CopyContext = {
  services: Services;
  fetcher: FileFetcher;
  ticker: Ticker;
  /** Receives the outcome of each copy. */
  onCopy?: ((outcome: CopyOutcome) => void) | undefined;
};

/**
 * Copies a leased file into the store and makes its recording available, which emits `recording.completed`. If copying
 * fails, records the failure. Renews the lease while copying, and releases it when `stopping` is aborted. Never
 * rejects.
 */
export async function copyRecording(context: CopyContext, lease: CopyLease, stopping: AbortSignal): Promise<void> {
  const { services } = context;
  try {
    const outcome = await transfer(context, lease, stopping).then(
      (): CopyOutcome => 'copied',
      async (error: unknown): Promise<CopyOutcome> => {
        const isDropped = stopping.aborted || error instanceof LeaseLost || isObsolete(error);
        if (stopping.aborted) await releaseLease(services.db, lease);
        else if (isObsolete(error)) await removeCopy(services.db, lease);
        else if (!isDropped) await recordFailure(services, lease, toFailure(services, error));
        return isDropped ? 'dropped' : 'failed';
      },
    );
    context.onCopy?.(outcome);
  } catch (error) {
    // Another attempt follows when the lease expires.
    if (!isObsolete(error)) services.log.error({ err: error }, 'Failed to record the result of a copy');
  }
}

async function transfer(
  { services, fetcher, ticker }: CopyContext,
  lease: CopyLease,
  stopping: AbortSignal,
): Promise<void> {
  const { maxRecordingBytes: maxBytes } = services.settings;
  const monitor = monitorTransfer({ ticker, log: services.log, maxBytes }, () => renewLease(services, lease));
  const signal = AbortSignal.any([stopping, monitor.signal]);
  let stream: Readable | null = null;
  try {
    const chunks = await fetcher.fetch(openUrl(services.sealer, lease), { maxBytes, signal });
    stream = Readable.from(monitor.count(chunks), { objectMode: false });
    await storeRecordingFile(services, lease, { file: { stream }, signal });
  } catch (error) {
    // The abort reason says more than the error that the abort caused.
    throw signal.aborted ? signal.reason : error;
  } finally {
    // The file may still be arriving if it was rejected because of its first bytes.
    stream?.destroy();
    monitor.stop();
  }
}

/** Whether there is nothing left to copy because the recording has been deleted or completed. */
function isObsolete(error: unknown): boolean {
  if (error instanceof QuotaReached) return false;
  return error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'CONFLICT');
}

/**
 * Converts an error to the failure that is shown with the recording. Logs errors that neither the remote server nor the
 * object store can cause.
 */
function toFailure({ log }: Pick<Services, 'log'>, error: unknown): CopyFailure {
  if (error instanceof FileUnavailable) return { reason: error.message, isLasting: error.isLasting };
  if (error instanceof QuotaReached) return { reason: error.message };
  if (error instanceof AppError) {
    if (error.code === 'BAD_REQUEST') return { reason: error.message, isWrongFile: true };
    if (error.code === 'STORAGE_UNAVAILABLE') return { reason: 'The storage service was unavailable' };
  }
  log.error({ err: error }, 'Failed to copy a recording');
  return { reason: 'Internal error' };
}
