/** Receives bytes of an upload. */
import type { Readable } from 'node:stream';
import { badField, badRequest, conflictForNow } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Services } from '../../services.ts';
import { ObjectMissingError, type PartialObject } from '../../storage/object-store.ts';
import { findUploader, requireAllowance, type Uploader } from '../recordings/upload.ts';
import { type ByteLimit, findByteLimit, maxRecordingReached } from './byte-limit.ts';
import { readByteCount, requireAllowedLength, requireRoomFor } from './create-upload.ts';
import { finishSoFar, reopenUpload } from './finish-so-far.ts';
import { finishUpload, removeUpload, toUploadError } from './finish-upload.ts';
import { inspectBytes } from './inspect-bytes.ts';
import { continuedElsewhere, findStopped, record, withLease } from './upload-lease.ts';
import { isFinishedSoFar, type LeasedUpload, recordLength, touchUpload, type Upload } from './upload-rows.ts';
import { isLive, rulesOf } from './upload-rules.ts';

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
 * Of a recording that is sent while it is made, what fits is stored before the error of a limit is thrown. At the
 * maximum size, the recording is complete.
 *
 * Throws 400 for wrong headers, for a file of another type and for parts that are too small, 404 if the upload does not
 * exist, 409 if the offset is not the number of stored bytes or another request does not end in time, 413 if the file
 * is too large, the errors of `findByteLimit`, and those of `finishUpload`.
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
      // A process was killed while it finished the recording: its object has to be complete before it is continued.
      const whole = leased.isFinishing ? await finishSoFar(services, leased) : leased;
      const current = await nameLength(services, whole, length);
      if (current.result !== null) return requireWithinMaximum(services, current, length);
      const limit = isLive(current) ? await findByteLimit(services, current) : null;
      const stored = await store(services, current, limit, body, setOffset);
      if (stored.exceeded === null) return finishIfComplete(services, stored.upload);
      if (stored.exceeded.isFinal) await finishAtMaximum(services, stored.upload);
      throw stored.exceeded.error;
    });
  });
}

/** Finishes an upload all of whose bytes are stored. Returns its new state. */
async function finishIfComplete(services: Services, upload: LeasedUpload): Promise<Upload> {
  if (upload.result !== null || upload.received !== upload.length) return upload;
  return { ...upload, result: await finishUpload(services, upload) };
}

/** Ends an upload that has reached the maximum size. */
async function finishAtMaximum(services: Services, upload: LeasedUpload): Promise<void> {
  const { id, lease, received } = upload;
  await services.db.sql.run(recordLength, { id, lease, length: received });
  await finishIfComplete(services, { ...upload, length: received });
}

/** Throws 413 if a client that has not named the length goes on after the maximum size was reached. */
function requireWithinMaximum({ settings }: Services, upload: Upload, sentLength: string | undefined): Upload {
  const isAtMaximum = isLive(upload) && upload.received >= settings.maxRecordingBytes;
  if (isAtMaximum && sentLength === undefined) throw maxRecordingReached(settings.maxRecordingBytes);
  return upload;
}

/**
 * Stops a request that appends bytes, in any process, and returns the state of the upload after that. If all of its
 * bytes are stored but an earlier attempt to finish it failed, finishes it. Throws 404, and the errors of
 * `finishUpload`.
 */
export async function readUpload(services: Services, { id }: Pick<Upload, 'id'>): Promise<Upload> {
  await services.uploads.stop(id);
  const upload = await findStopped(services, id);
  if (isLive(upload) && upload.result === null)
    await services.db.sql.run(touchUpload, { id, now: services.clock.now() });
  if (upload.result !== null || upload.received !== upload.length) return upload;
  // The last step cannot be stopped.
  return withLease(
    services,
    id,
    () => undefined,
    (leased) => finishIfComplete(services, leased),
  );
}

function requireContinuation({ received, requests }: Upload, offset: number): void {
  if (offset !== received) throw conflictForNow(`Upload-Offset must be ${received}, the number of stored bytes`);
  if (requests >= FREE_REQUESTS && received < requests * MIN_BYTES_PER_REQUEST)
    throw badRequest(`The parts are too small: send at least ${MIN_BYTES_PER_REQUEST / 1024} kB in each request`);
}

/**
 * Records the length of an upload whose length the client names now. Throws 400 if it is wrong, 413 if too large, and
 * 409 if the quota of bytes has no room for it, or for what has arrived while the length is not known. Throws 429 if
 * guests may not store so much more.
 */
async function nameLength(services: Services, upload: LeasedUpload, sent: string | undefined): Promise<LeasedUpload> {
  const { id, lease, received } = upload;
  if (sent === undefined) {
    // A recording that is sent while it is made has a limit instead, which stores what fits.
    if (upload.length === null && !isLive(upload))
      await transact(services.db, (tx) => requireRoomFor(services, tx, upload, received + 1));
    return upload;
  }
  const length = readByteCount('Upload-Length', sent);
  if (upload.length !== null && upload.length !== length)
    throw badField('Upload-Length', `Upload-Length cannot be changed: it is ${upload.length}`);
  if (length < received)
    throw badField('Upload-Length', `Upload-Length must be at least ${received}, the number of stored bytes`);
  requireAllowedLength(length, rulesOf(services, upload).maxBytes);
  if (upload.length === null) {
    const uploader = length > received ? await findRecorderOf(services, upload) : null;
    await transact(services.db, async (tx) => {
      await requireRoomFor(services, tx, upload, length);
      if (uploader !== null) await requireAllowance(services, sqlIn(tx), uploader, length);
      await sqlIn(tx).run(recordLength, { id, lease, length });
    });
  }
  return { ...upload, length };
}

/** Returns null unless the upload was made with the upload token of a recording. */
async function findRecorderOf(
  { db }: Services,
  { workspaceId, recordingId, createdBy }: Upload,
): Promise<Uploader | null> {
  if (recordingId === null || createdBy !== null) return null;
  return findUploader(db, { kind: 'recorder', id: recordingId, workspaceId }, recordingId);
}

type Stored = { upload: LeasedUpload; exceeded: ByteLimit | null };

/** Stores the bytes as they arrive, up to the limit. A body without bytes only says that the client is still there. */
async function store(
  services: Services,
  upload: LeasedUpload,
  limit: ByteLimit | null,
  body: Readable,
  setOffset: (received: number) => void,
): Promise<Stored> {
  const { uploads } = services;
  const { id } = upload;
  let current = upload;
  const hash = uploads.takeHash(id, upload.received);
  const inspector = inspectBytes(upload, rulesOf(services, upload), hash, limit);
  const onStored = async (stored: PartialObject): Promise<void> => {
    const next = { ...current, stored, received: stored.size, head: inspector.head(stored.size) };
    current = { ...next, expiresAt: await record(services, next) };
    setOffset(stored.size);
  };
  try {
    const bytes = inspector.inspect(body);
    const first = await bytes.next();
    if (first.done) {
      if (isLive(upload)) await services.db.sql.run(touchUpload, { id, now: services.clock.now() });
    } else {
      if (isFinishedSoFar(current)) current = await reopenUpload(services, current);
      const options = { contentType: upload.mediaType, onStored };
      await services.store.partial.append(current.fileKey, current.stored, startWith(first.value, bytes), options);
    }
    if (inspector.hash !== null) uploads.keepHash(id, current.received, inspector.hash);
  } catch (error) {
    if (inspector.isRejected() || error instanceof ObjectMissingError) await removeUpload(services, current);
    throw toUploadError(error);
  }
  return { upload: current, exceeded: inspector.isExceeded() ? limit : null };
}

/** Yields what was read already, and the rest. */
async function* startWith(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
