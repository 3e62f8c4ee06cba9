import type { Readable } from 'node:stream';
import type { CompletedPart, S3Client } from '@aws-sdk/client-s3';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { StorageUnavailableError } from './object-store.ts';

export const PART_BYTES = 8 * 1024 * 1024;
const MAX_CONCURRENT_PARTS = 2;
/** The timeout for all requests of a cleanup together. */
const CLEANUP_TIMEOUT_MS = 2_000;

export type ObjectLocation = { Bucket: string; Key: string };

type Target = ObjectLocation & { ContentType: string };

/**
 * At the first failure, `stop` aborts all requests of the upload and its source. `signal` also covers the caller's
 * abort.
 */
type Upload = { client: S3Client; target: Target; signal: AbortSignal; stop: AbortController };

/**
 * Streams `source` into one object: with one request below 8 MiB, otherwise with a multipart upload, two parts at a
 * time. Needs at most two part buffers (16 MiB) and one chunk of the source, for any size: the buffers are reused, and
 * reading pauses while both are being sent.
 *
 * Rejects with errors of the source unchanged, with the signal's reason after an abort, and otherwise with
 * StorageUnavailableError. On failure the source is destroyed, pending requests are cancelled, and stored data is
 * removed. The last request makes the object readable. Once it is sent, an abort has no effect, because the outcome of
 * that request would be unknown.
 *
 * This does not use the Upload class of lib-storage. After an abort, that class rejects immediately while its requests
 * continue, so the object may appear later. For a file of 100 MB it took 51 MiB of memory instead of 18.
 */
export async function uploadStream(
  client: S3Client,
  target: Target,
  source: Readable,
  abort: AbortSignal | undefined,
): Promise<void> {
  const stop = new AbortController();
  const signal = abort === undefined ? stop.signal : AbortSignal.any([abort, stop.signal]);
  const upload = { client, target, signal, stop };
  const destroySource = () => source.destroy();
  signal.addEventListener('abort', destroySource);
  // The source may still fail after it was abandoned, and an error event without a listener ends the process.
  source.on('error', () => undefined);
  try {
    signal.throwIfAborted();
    const spare: Buffer[] = [];
    const parts = readParts(source, spare);
    const first = await parts.next();
    if (first.done || first.value.length < PART_BYTES) await putWhole(upload, first.value ?? Buffer.alloc(0));
    else await putInParts(upload, first.value, parts, spare);
  } catch (error) {
    stop.abort();
    // The listener is not called for a signal that was already aborted.
    destroySource();
    throw abort?.aborted ? abort.reason : error;
  } finally {
    signal.removeEventListener('abort', destroySource);
  }
}

/** Yields the source in full parts and a shorter, non-empty last part. Reuses the buffers in `spare`. */
async function* readParts(source: Readable, spare: Buffer[]): AsyncGenerator<Buffer, undefined> {
  let buffer: Buffer | undefined;
  let filled = 0;
  for await (const chunk of source) {
    let rest = toBytes(chunk);
    while (rest.length > 0) {
      buffer ??= spare.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
      const taken = rest.subarray(0, PART_BYTES - filled);
      buffer.set(taken, filled);
      filled += taken.length;
      rest = rest.subarray(taken.length);
      if (filled < PART_BYTES) continue;
      yield buffer;
      buffer = undefined;
      filled = 0;
    }
  }
  if (buffer !== undefined) yield buffer.subarray(0, filled);
}

function toBytes(chunk: Uint8Array | string): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

async function putWhole({ client, target, signal }: Upload, body: Buffer): Promise<void> {
  signal.throwIfAborted();
  try {
    await client.send(new PutObjectCommand({ ...target, Body: body, ContentLength: body.length }));
  } catch (error) {
    await removeObject(client, target);
    throw toUnavailable(error);
  }
}

/** Removes an object that may have become readable. If the store does not respond, nothing more can be done. */
async function removeObject(
  client: S3Client,
  { Bucket, Key }: ObjectLocation,
  abortSignal = AbortSignal.timeout(CLEANUP_TIMEOUT_MS),
): Promise<void> {
  await ignoreErrors(client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal }));
}

/** Ignores errors of a cleanup: the first error is reported, and removeStaleUploads cleans up later. */
async function ignoreErrors(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

export function toUnavailable(cause: unknown, what = 'store an upload'): StorageUnavailableError {
  return new StorageUnavailableError(`The object store could not ${what}`, cause);
}

async function putInParts(upload: Upload, first: Buffer, rest: AsyncGenerator<Buffer>, spare: Buffer[]): Promise<void> {
  const { client, target, signal } = upload;
  const { ContentType: _, ...object } = target;
  const UploadId = await createMultipartUpload(client, target);
  let isCommitting = false;
  try {
    const Parts = await sendParts(upload, UploadId, prepend(first, rest), spare);
    signal.throwIfAborted();
    isCommitting = true;
    await completeMultipartUpload(client, { ...object, UploadId, MultipartUpload: { Parts } });
  } catch (error) {
    // Abort first, so that a completion in progress cannot create the object after its removal.
    const abortSignal = AbortSignal.timeout(CLEANUP_TIMEOUT_MS);
    await ignoreErrors(client.send(new AbortMultipartUploadCommand({ ...object, UploadId }), { abortSignal }));
    if (isCommitting) await removeObject(client, target, abortSignal);
    throw error;
  }
}

/**
 * An abort does not end this request: the server may still create the upload, and only its response has the ID that is
 * needed to remove it.
 */
export async function createMultipartUpload(client: S3Client, target: Target): Promise<string> {
  try {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
    if (UploadId === undefined) throw new Error('The response to CreateMultipartUpload has no UploadId');
    return UploadId;
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** Sends each part as it is read. Resolves with all parts in order, or rejects with the first error. */
async function sendParts(
  { client, target, signal, stop }: Upload,
  UploadId: string,
  parts: AsyncIterable<Buffer>,
  spare: Buffer[],
): Promise<CompletedPart[]> {
  const { ContentType: _, ...object } = target;
  const sent: CompletedPart[] = [];
  const pending = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const fail = (error: unknown) => {
    failures.push(error);
    stop.abort();
  };
  const send = async (PartNumber: number, body: Buffer) => {
    const command = new UploadPartCommand({ ...object, UploadId, PartNumber, Body: body, ContentLength: body.length });
    const { ETag } = await client.send(command, { abortSignal: signal });
    if (ETag === undefined) throw new Error('The response to UploadPart has no ETag');
    sent[PartNumber - 1] = { PartNumber, ETag };
    spare.push(body);
  };

  try {
    let count = 0;
    for await (const part of parts) {
      count += 1;
      const sending = send(count, part)
        .catch((error: unknown) => fail(toUnavailable(error)))
        .finally(() => pending.delete(sending));
      pending.add(sending);
      if (pending.size >= MAX_CONCURRENT_PARTS) await Promise.race(pending);
      if (failures.length > 0) break;
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(pending);
  if (failures.length > 0) throw failures[0];
  return sent;
}

async function* prepend(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function completeMultipartUpload(
  client: S3Client,
  input: ConstructorParameters<typeof CompleteMultipartUploadCommand>[0],
): Promise<void> {
  try {
    const { ETag } = await client.send(new CompleteMultipartUploadCommand(input));
    // S3 sends the status before it knows the outcome, so a response with status 200 may be an error. The SDK
    // recognizes most of these errors by the last characters of the body. A completed upload always has an ETag.
    if (ETag === undefined) throw new Error('The response to CompleteMultipartUpload has no ETag');
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** Copies an object of at most 5 GB within the store, with its content type. On failure a partial copy is removed. */
export async function copyObject(client: S3Client, from: ObjectLocation, to: ObjectLocation): Promise<void> {
  // Each segment of the path is encoded, but not the slashes between them.
  const CopySource = [from.Bucket, ...from.Key.split('/')].map(encodeURIComponent).join('/');
  try {
    const { CopyObjectResult } = await client.send(new CopyObjectCommand({ ...to, CopySource }));
    // As with CompleteMultipartUpload, status 200 does not mean success.
    if (CopyObjectResult?.ETag === undefined) throw new Error('The response to CopyObject has no ETag');
  } catch (error) {
    await removeObject(client, to);
    throw toUnavailable(error, 'copy an object');
  }
}
