/** Receives bytes of an upload. */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppError, badField, badRequest, conflictForNow, notFound } from '../../core/errors.ts';
import { systemTicker } from '../../core/ticker.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { ObjectMissingError, type PartialObject } from '../../storage/object-store.ts';
import { startHeartbeat, touchRecording } from '../recordings/upload.ts';
import { IDLE_MS, readByteCount, requireAllowedLength, requireRoomFor } from './create-upload.ts';
import { finishUpload, LeaseLost, removeUpload, toUploadError } from './finish-upload.ts';
import { inspectBytes } from './inspect-bytes.ts';
import {
  findUpload,
  LEASE_MS,
  type LeasedUpload,
  leaseUpload,
  RENEWAL_MS,
  recordLength,
  recordStored,
  releaseUpload,
  renewUploadLease,
  requestStop,
  type Upload,
} from './upload-rows.ts';
import { rulesOf } from './upload-rules.ts';

/** How long a request waits for another one that appends to the same upload. Longer than a lease. */
const WAIT_MS = LEASE_MS + 2_000;
const POLL_MS = 200;
/** After so many requests, each must have brought this many bytes on average. */
const FREE_REQUESTS = 1_000;
const MIN_BYTES_PER_REQUEST = 1024;

/** What a request that appends bytes sends. */
export type SentBytes = { offset: string | undefined; length: string | undefined; body: Readable };

/**
 * Appends the bytes of one request. What arrives is stored even if the request is cut off. With the last byte, adds the
 * file to the library or to the recording, whose path is then the `result`. A request that arrives while another one
 * appends to the same upload stops the other one.
 *
 * Calls `setOffset` with the number of stored bytes whenever it changes, so that an error response can name it.
 *
 * Throws 400 for wrong headers, for a file of another type and for parts that are too small, 404 if the upload does not
 * exist, 409 if the offset is not the number of stored bytes or another request does not end in time, 413 if the file
 * is too large, and the errors of `finishUpload`.
 */
export async function appendBytes(
  services: Services,
  { id }: Pick<Upload, 'id'>,
  { offset: sentOffset, length, body }: SentBytes,
  setOffset: (received: number) => void,
): Promise<Upload> {
  const offset = readByteCount('Upload-Offset', sentOffset);
  const stop = (reason: Error): void => void body.destroy(reason);
  return services.uploads.run(id, async (stopped) => {
    stopped.addEventListener('abort', () => stop(continuedElsewhere()));
    return withLease(services, id, stop, async (leased) => {
      setOffset(leased.received);
      requireContinuation(leased, offset);
      const current = await nameLength(services, leased, length);
      if (current.result !== null) return current;
      return finishIfComplete(services, await store(services, current, body, setOffset));
    });
  });
}

/** Finishes an upload all of whose bytes are stored. Returns its new state. */
async function finishIfComplete(services: Services, upload: LeasedUpload): Promise<Upload> {
  if (upload.result !== null || upload.received !== upload.length) return upload;
  return { ...upload, result: await finishUpload(services, upload) };
}

/**
 * Stops a request that appends bytes, in any process, and returns the state of the upload after that. If all of its
 * bytes are stored but an earlier attempt to finish it failed, finishes it. Throws 404, and the errors of
 * `finishUpload`.
 */
export async function readUpload(services: Services, { id }: Pick<Upload, 'id'>): Promise<Upload> {
  await services.uploads.stop(id);
  const upload = await findStopped(services, id);
  if (upload.result !== null || upload.received !== upload.length) return upload;
  // The last step cannot be stopped.
  return withLease(services, id, noStop, (leased) => finishIfComplete(services, leased));
}

/** Waits until no request appends bytes, but not for longer than such a request may take to notice. Throws 404. */
async function findStopped({ db, clock }: Services, id: string): Promise<Upload> {
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

function noStop(): void {}

function continuedElsewhere(): AppError {
  return conflictForNow('Another request continues this upload');
}

/**
 * Runs `work` with the lease of an upload, and renews it until `work` has ended, which may take minutes for a large
 * file. Calls `stop` if another request wants to continue the upload, or has taken it over. Throws 404, and 409 if
 * another request has the lease.
 */
async function withLease<Result>(
  services: Services,
  id: string,
  stop: (reason: Error) => void,
  work: (leased: LeasedUpload) => Promise<Result>,
): Promise<Result> {
  const { isTakenOver, ...leased } = await takeLease(services, id);
  const stopRenewal = keepLease(services, leased, stop);
  const { workspaceId, recordingId } = leased;
  const recording = recordingId === null ? null : { workspaceId, recordingId };
  const stopHeartbeat = recording && startHeartbeat(services, recording);
  try {
    // A recording does not become stale while its file arrives.
    if (recording) await touchRecording(services, recording);
    return await work(isTakenOver ? await takeOver(services, leased) : leased);
  } catch (error) {
    throw error instanceof LeaseLost ? await toLeaseError(services, id) : error;
  } finally {
    stopRenewal();
    stopHeartbeat?.();
    await services.db.sql.run(releaseUpload, { id, lease: leased.lease });
  }
}

/** Renews a lease every 2 seconds. Returns a function that ends this. */
function keepLease({ db, clock, log }: Services, { id, lease }: LeasedUpload, stop: (reason: Error) => void) {
  const renew = async (): Promise<void> => {
    const leasedUntil = new Date(clock.now().getTime() + LEASE_MS);
    const [row] = await db.sql.run(renewUploadLease, { id, lease, leasedUntil });
    if (!row) stop(new LeaseLost('Another request has taken over the upload'));
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
async function takeLease(services: Services, id: string): Promise<LeasedUpload & { isTakenOver: boolean }> {
  const { db, clock } = services;
  const deadline = systemTicker.now() + WAIT_MS;
  for (;;) {
    const now = clock.now();
    const lease = randomUUID();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const [leased] = await db.sql.run(leaseUpload, { id, lease, now, leasedUntil });
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
  if (previous === null) return upload;
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

/** Records what is stored. Throws if another request has the lease. */
async function record({ db, clock }: Services, { id, lease, stored, received, head }: LeasedUpload): Promise<Date> {
  const now = clock.now().getTime();
  const expiresAt = new Date(now + IDLE_MS);
  const leasedUntil = new Date(now + LEASE_MS);
  const [recorded] = await db.sql.run(recordStored, { id, lease, stored, received, head, leasedUntil, expiresAt });
  if (!recorded) throw new LeaseLost('Another request has taken over the upload');
  return expiresAt;
}

function requireContinuation({ received, requests }: Upload, offset: number): void {
  if (offset !== received) throw conflictForNow(`Upload-Offset must be ${received}, the number of stored bytes`);
  if (requests >= FREE_REQUESTS && received < requests * MIN_BYTES_PER_REQUEST)
    throw badRequest(`The parts are too small: send at least ${MIN_BYTES_PER_REQUEST / 1024} kB in each request`);
}

/**
 * Records the length of an upload whose length the client names now. Throws 400 if it is wrong, 413 if too large, and
 * 409 if the quota of bytes has no room for it, or for what has arrived while the length is not known.
 */
async function nameLength(services: Services, upload: LeasedUpload, sent: string | undefined): Promise<LeasedUpload> {
  const { id, lease, received } = upload;
  if (sent === undefined) {
    if (upload.length === null) await transact(services.db, (tx) => requireRoomFor(services, tx, upload, received + 1));
    return upload;
  }
  const length = readByteCount('Upload-Length', sent);
  if (upload.length !== null && upload.length !== length)
    throw badField('Upload-Length', `Upload-Length cannot be changed: it is ${upload.length}`);
  if (length < received)
    throw badField('Upload-Length', `Upload-Length must be at least ${received}, the number of stored bytes`);
  requireAllowedLength(length, rulesOf(services, upload).maxBytes);
  if (upload.length === null)
    await transact(services.db, async (tx) => {
      await requireRoomFor(services, tx, upload, length);
      await sqlIn(tx).run(recordLength, { id, lease, length });
    });
  return { ...upload, length };
}

/** Stores the bytes as they arrive. */
async function store(
  services: Services,
  upload: LeasedUpload,
  body: Readable,
  setOffset: (received: number) => void,
): Promise<LeasedUpload> {
  const { uploads } = services;
  const { id } = upload;
  let current = upload;
  const inspector = inspectBytes(upload, rulesOf(services, upload), uploads.takeHash(id, upload.received));
  const onStored = async (stored: PartialObject): Promise<void> => {
    const next = { ...current, stored, received: stored.size, head: inspector.head(stored.size) };
    current = { ...next, expiresAt: await record(services, next) };
    setOffset(stored.size);
  };
  try {
    const bytes = inspector.inspect(body);
    await services.store.partial.append(upload.fileKey, upload.stored, bytes, {
      contentType: upload.mediaType,
      onStored,
    });
    if (inspector.hash !== null) uploads.keepHash(id, current.received, inspector.hash);
  } catch (error) {
    if (inspector.isRejected() || error instanceof ObjectMissingError) await removeUpload(services, current);
    throw toUploadError(error);
  }
  return current;
}
