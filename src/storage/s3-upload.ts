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

const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
const CLEAN_UP_MS = 5000;

type Place = { Bucket: string; Key: string };

type Target = Place & { ContentType: string };

/** `stop` ends every request of the upload and its source at the first failure; `signal` is that, or the caller's abort. */
type Upload = { client: S3Client; target: Target; signal: AbortSignal; stop: AbortController };

/**
 * Streams `source` into one object: less than 8 MiB as one request, more as a multipart upload, two parts at a time.
 * Holds two part buffers (16 MiB) and one chunk of the source at most, whatever the size: the buffers go round, and
 * reading stops while both are under way.
 *
 * Errors of the source pass unchanged, an abort rejects with the signal's reason, all else with StorageUnavailableError.
 * On failure the source is destroyed, requests under way are cancelled, and what was stored is removed. Once the last
 * request, the one that makes the object readable, is sent, an abort has no effect: its outcome would be unknown.
 *
 * It is written against the plain commands because lib-storage's Upload cannot keep this: aborted, it rejects at once
 * while its requests go on, so that the object may appear later, and for 100 MB it took 51 MiB of memory against 18.
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
  // A source may still fail after it was given up, and an error event that nobody hears ends the process.
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
    // The listener hears nothing of a signal that was aborted before.
    destroySource();
    throw abort?.aborted ? abort.reason : error;
  } finally {
    signal.removeEventListener('abort', destroySource);
  }
}

/** Yields the source in full parts and a shorter, non-empty last one. Takes buffers from `spare` before it makes one. */
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
    throw unavailable(error);
  }
}

/** For an object that may or may not have become readable. Nothing more can be done when the store does not answer. */
async function removeObject(client: S3Client, { Bucket, Key }: Place): Promise<void> {
  const abortSignal = AbortSignal.timeout(CLEAN_UP_MS);
  await quietly(client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal }));
}

/** Clean-up fails quietly: the error that led to it explains more, and removeStaleUploads comes after. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

function unavailable(cause: unknown, what = 'store an upload'): StorageUnavailableError {
  return new StorageUnavailableError(`The object store could not ${what}`, cause);
}

async function putInParts(upload: Upload, first: Buffer, rest: AsyncGenerator<Buffer>, spare: Buffer[]): Promise<void> {
  const { client, target, signal } = upload;
  const { ContentType: _, ...object } = target;
  const UploadId = await createMultipartUpload(upload);
  let isCommitting = false;
  try {
    const Parts = await sendParts(upload, UploadId, prepend(first, rest), spare);
    signal.throwIfAborted();
    isCommitting = true;
    await completeMultipartUpload(client, { ...object, UploadId, MultipartUpload: { Parts } });
  } catch (error) {
    // Abort first: a completion that is still being worked on can then no longer follow the removal.
    const abortSignal = AbortSignal.timeout(CLEAN_UP_MS);
    await quietly(client.send(new AbortMultipartUploadCommand({ ...object, UploadId }), { abortSignal }));
    if (isCommitting) await removeObject(client, target);
    throw error;
  }
}

async function createMultipartUpload({ client, target, signal }: Upload): Promise<string> {
  try {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target), { abortSignal: signal });
    if (UploadId === undefined) throw new Error('The answer to CreateMultipartUpload has no UploadId');
    return UploadId;
  } catch (error) {
    throw unavailable(error);
  }
}

/** Sends each part as it comes. Resolves with all parts in order, or rejects with what failed first, the source or a part. */
async function sendParts(
  { client, target, signal, stop }: Upload,
  UploadId: string,
  parts: AsyncIterable<Buffer>,
  spare: Buffer[],
): Promise<CompletedPart[]> {
  const { ContentType: _, ...object } = target;
  const sent: CompletedPart[] = [];
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const fail = (error: unknown) => {
    failures.push(error);
    stop.abort();
  };
  const send = async (PartNumber: number, body: Buffer) => {
    const command = new UploadPartCommand({ ...object, UploadId, PartNumber, Body: body, ContentLength: body.length });
    const { ETag } = await client.send(command, { abortSignal: signal });
    if (ETag === undefined) throw new Error('The answer to UploadPart has no ETag');
    sent[PartNumber - 1] = { PartNumber, ETag };
    spare.push(body);
  };

  try {
    let count = 0;
    for await (const part of parts) {
      count += 1;
      const sending = send(count, part)
        .catch((error: unknown) => fail(unavailable(error)))
        .finally(() => underWay.delete(sending));
      underWay.add(sending);
      if (underWay.size >= PARTS_AT_ONCE) await Promise.race(underWay);
      if (failures.length > 0) break;
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(underWay);
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
    // The answer starts before the outcome is known: it may be an error under status 200. The SDK finds most of these
    // by the last characters of the body; an answer without an ETag is none that S3 gives for a completed upload.
    if (ETag === undefined) throw new Error('The answer to CompleteMultipartUpload has no ETag');
  } catch (error) {
    throw unavailable(error);
  }
}

/**
 * Copies an object of at most 5 GB within the store, its content type included. On failure what may have been stored is
 * removed.
 */
export async function copyObject(client: S3Client, from: Place, to: Place): Promise<void> {
  // Of the parts of a path each is encoded, but not the slashes between them.
  const CopySource = [from.Bucket, ...from.Key.split('/')].map(encodeURIComponent).join('/');
  try {
    const { CopyObjectResult } = await client.send(new CopyObjectCommand({ ...to, CopySource }));
    // As for Complete: the answer starts before the outcome is known.
    if (CopyObjectResult?.ETag === undefined) throw new Error('The answer to CopyObject has no ETag');
  } catch (error) {
    await removeObject(client, to);
    throw unavailable(error, 'copy an object');
  }
}
