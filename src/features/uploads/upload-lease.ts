/** The lease of the request that appends bytes to an upload, in any process. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppError, conflictForNow, notFound } from '../../core/errors.ts';
import { systemTicker } from '../../core/ticker.ts';
import type { Services } from '../../services.ts';
import { ObjectMissingError } from '../../storage/object-store.ts';
import { removedBefore, startHeartbeat, touchRecording } from '../recordings/upload.ts';
import { IDLE_MS } from './create-upload.ts';
import { removeUpload, toUploadError, UploadTakenOver } from './finish-upload.ts';
import {
  findUpload,
  isFinishedSoFar,
  LEASE_MS,
  type LeasedUpload,
  leaseUpload,
  RENEWAL_MS,
  recordStored,
  releaseUpload,
  renewUploadLease,
  requestStop,
  type Upload,
} from './upload-rows.ts';

/** How long a request waits for another one that appends to the same upload. Longer than a lease. */
const WAIT_MS = LEASE_MS + 2_000;
const POLL_MS = 200;

export function continuedElsewhere(): AppError {
  return conflictForNow('Another request continues this upload');
}

/** Waits until no request appends bytes, but not for longer than such a request may take to notice. Throws 404. */
export async function findStopped({ db, clock }: Services, id: string): Promise<Upload> {
  const deadline = systemTicker.now() + WAIT_MS;
  for (;;) {
    const [upload] = await db.sql.run(findUpload, { id, now: clock.now() });
    if (!upload) throw notFound('Upload');
    // The last step cannot be stopped.
    const mayChange = upload.isLeased && upload.result === null && upload.received !== upload.length;
    if (!mayChange || systemTicker.now() > deadline) return upload;
    await db.sql.run(requestStop, { id });
    await sleep(POLL_MS);
  }
}

/**
 * Runs `work` with the lease of an upload, and renews it until `work` has ended, which may take minutes for a large
 * file. Calls `stop` if another request wants to continue the upload, or has taken it over. Throws 404, and 409 if
 * another request has the lease. `graceMs` is for work that may begin after the upload has expired.
 */
export async function withLease<Result>(
  services: Services,
  id: string,
  stop: (reason: Error) => void,
  work: (leased: LeasedUpload) => Promise<Result>,
  { graceMs = 0 }: { graceMs?: number } = {},
): Promise<Result> {
  const { isTakenOver, ...leased } = await takeLease(services, id, graceMs);
  const stopRenewal = keepLease(services, leased, stop);
  const { workspaceId, recordingId } = leased;
  const recording = recordingId === null ? null : { workspaceId, recordingId };
  const stopHeartbeat = recording && startHeartbeat(services, recording);
  try {
    // A recording does not become stale while its file arrives.
    if (recording) await touchRecording(services, recording);
    return await work(isTakenOver ? await takeOver(services, leased) : leased);
  } catch (error) {
    throw error instanceof UploadTakenOver ? await toLeaseError(services, id) : error;
  } finally {
    stopRenewal();
    stopHeartbeat?.();
    await services.db.sql.run(releaseUpload, { id, lease: leased.lease });
  }
}

/** Renews a lease every 2 seconds. Returns a function that ends this. */
function keepLease(services: Services, { id, lease }: LeasedUpload, stop: (reason: Error) => void) {
  const { db, clock, log } = services;
  const renew = async (): Promise<void> => {
    const leasedUntil = new Date(clock.now().getTime() + LEASE_MS);
    const params = { id, lease, leasedUntil, removedBefore: removedBefore(services) };
    const [row] = await db.sql.run(renewUploadLease, params);
    if (!row) stop(new UploadTakenOver());
    else if (row.stopRequested) stop(continuedElsewhere());
  };
  return systemTicker.every(RENEWAL_MS, () => {
    renew().catch((error: unknown) => log.warn({ err: error }, 'Failed to renew the lease of an upload'));
  });
}

/** 404 if the upload was deleted, with its workspace or by its creator; else another request has taken it over. */
async function toLeaseError({ db, clock }: Services, id: string): Promise<AppError> {
  const [upload] = await db.sql.run(findUpload, { id, now: clock.now() });
  return upload ? continuedElsewhere() : notFound('Upload');
}

/** Waits until no other request appends bytes. Throws 404, and 409 if another request does not end in time. */
async function takeLease(
  services: Services,
  id: string,
  graceMs: number,
): Promise<LeasedUpload & { isTakenOver: boolean }> {
  const { db, clock } = services;
  const deadline = systemTicker.now() + WAIT_MS;
  for (;;) {
    const now = clock.now();
    const lease = randomUUID();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const expiresAfter = new Date(now.getTime() - graceMs);
    const [leased] = await db.sql.run(leaseUpload, { id, lease, now, leasedUntil, expiresAfter });
    if (leased) return { ...leased, lease };
    const [found] = await db.sql.run(findUpload, { id, now });
    if (!found) throw notFound('Upload');
    if (systemTicker.now() > deadline)
      throw conflictForNow('Another request is sending bytes of this upload: try again in a moment');
    await db.sql.run(requestStop, { id });
    await sleep(POLL_MS);
  }
}

/** Separates the stored bytes from a request that may still be writing, perhaps in a process that hangs. */
async function takeOver(services: Services, upload: LeasedUpload): Promise<LeasedUpload> {
  const { stored: previous, fileKey } = upload;
  // Nobody writes to what has been finished: it is continued in a copy.
  if (previous === null || isFinishedSoFar(upload)) return upload;
  try {
    const stored = await services.store.partial.takeOver(fileKey, previous, async (stored) => {
      await record(services, { ...upload, stored });
    });
    return { ...upload, stored };
  } catch (error) {
    if (error instanceof ObjectMissingError) await removeUpload(services, upload);
    throw toUploadError(error);
  }
}

/** Records what is stored. Returns until when it can be continued. Throws UploadTakenOver if another has the lease. */
export async function record(
  { db, clock }: Services,
  { id, lease, fileKey, stored, received, head }: LeasedUpload,
): Promise<Date> {
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + IDLE_MS);
  const leasedUntil = new Date(now.getTime() + LEASE_MS);
  const values = { id, lease, fileKey, stored, received, head, now, leasedUntil, expiresAt };
  const [recorded] = await db.sql.run(recordStored, values);
  if (!recorded) throw new UploadTakenOver();
  return recorded.expiresAt;
}
