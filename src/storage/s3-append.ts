/**
 * Objects in S3 that are written in several steps: a multipart upload, and a tail. S3 refuses parts below 5 MiB, so the
 * last bytes of a step are stored as an object of their own, the tail, until the next step brings more.
 */
import { randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NotFound,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { TAIL_INFIX } from './object-key.ts';
import { ObjectMissingError, type PartialObject, type PartialObjects } from './object-store.ts';
import { createMultipartUpload, type ObjectLocation, PART_BYTES, toUnavailable } from './s3-upload.ts';

/** The minimum size of all parts but the last. */
const MIN_PART_BYTES = 5 * 1024 * 1024;
/** More than the parts that a previous caller can still be sending. Their numbers are never used again. */
const TAKE_OVER_GAP = 16;
/**
 * How many buffers of PART_BYTES are kept for the next requests. New ones for each request would make V8 collect all
 * garbage every few parts.
 */
const MAX_SPARE_BUFFERS = 4;

type Part = { PartNumber: number; ETag: string };

type S3Partial = PartialObject & {
  /** Null until the first part. */
  uploadId: string | null;
  parts: Part[];
  nextNumber: number;
  contentType: string;
  /** The key and the size of the tail. */
  tail: { key: string; size: number } | null;
};

export function createS3Partials(client: S3Client, locate: (key: string) => ObjectLocation): PartialObjects {
  const spare: Buffer[] = [];

  const readTail = async ({ tail }: S3Partial): Promise<Buffer> => {
    if (tail === null) return Buffer.alloc(0);
    return withMissing('read a tail', async () => {
      const { Body } = await client.send(new GetObjectCommand(locate(tail.key)));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    });
  };

  /** A tail that stays behind is an object without a row, which the sweep removes. */
  const removeTail = async ({ tail }: S3Partial): Promise<void> => {
    if (tail !== null) await client.send(new DeleteObjectCommand(locate(tail.key))).catch(() => undefined);
  };

  const sendPart = async (key: string, state: S3Partial, body: Buffer): Promise<S3Partial> => {
    const { contentType, nextNumber: PartNumber } = state;
    const object = locate(key);
    const uploadId = state.uploadId ?? (await createMultipartUpload(client, { ...object, ContentType: contentType }));
    const command = new UploadPartCommand({
      ...object,
      UploadId: uploadId,
      PartNumber,
      Body: body,
      ContentLength: body.length,
    });
    const { ETag } = await withMissing('store a part', () => client.send(command));
    if (ETag === undefined) throw toUnavailable(new Error('The response to UploadPart has no ETag'));
    const parts = [...state.parts, { PartNumber, ETag }];
    const before = state.size - (state.tail?.size ?? 0);
    return { ...state, uploadId, parts, nextNumber: PartNumber + 1, tail: null, size: before + body.length };
  };

  const putTail = async (key: string, state: S3Partial, body: Buffer): Promise<S3Partial> => {
    const tail = { key: `${key}${TAIL_INFIX}${randomUUID()}`, size: body.length };
    const command = new PutObjectCommand({ ...locate(tail.key), Body: body, ContentLength: body.length });
    await withMissing('store a tail', () => client.send(command));
    return { ...state, tail, size: state.size - (state.tail?.size ?? 0) + body.length };
  };

  const hasObject = async (key: string, size: number): Promise<boolean> => {
    try {
      return (await client.send(new HeadObjectCommand(locate(key)))).ContentLength === size;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw toUnavailable(error, 'read an object');
    }
  };

  return {
    async append(key, state, source, { contentType, onStored }) {
      let current: S3Partial = state === null ? emptyPartial(contentType) : toS3Partial(state);
      const collector = collectParts(await readTail(current), spare);
      const store = async (next: Promise<S3Partial>): Promise<void> => {
        const previous = current;
        current = await next;
        await onStored(current);
        await removeTail(previous);
      };
      // While a part is being sent, the next one arrives.
      let sending: Promise<void> = Promise.resolve();
      const sendNext = async (body: Buffer): Promise<void> => {
        await sending;
        sending = store(sendPart(key, current, body));
        // Awaited below, but perhaps only after the source has failed.
        sending.catch(() => undefined);
      };
      const finish = async (): Promise<void> => {
        await sending;
        const rest = collector.rest();
        if (rest.length !== (current.tail?.size ?? 0))
          await store(rest.length >= MIN_PART_BYTES ? sendPart(key, current, rest) : putTail(key, current, rest));
        // After a failure the buffers are not used again: the failed request may still be reading them.
        collector.release();
      };
      const iterator = source[Symbol.asyncIterator]();
      for (;;) {
        let next: IteratorResult<Buffer>;
        try {
          next = await iterator.next();
        } catch (error) {
          await finish();
          throw error;
        }
        if (next.done) return finish();
        try {
          for (const part of collector.add(next.value)) await sendNext(part);
        } catch (error) {
          await iterator.return?.();
          throw error;
        }
      }
    },

    async complete(key, state) {
      let partial = toS3Partial(state);
      if (partial.tail === null && partial.uploadId === null)
        throw new Error('A partial object without bytes cannot be completed');
      try {
        if (partial.uploadId === null) {
          const Body = await readTail(partial);
          const put = { ...locate(key), ContentType: partial.contentType, Body, ContentLength: Body.length };
          await withMissing('store an upload', () => client.send(new PutObjectCommand(put)));
        } else {
          const { tail } = partial;
          if (tail !== null) partial = await sendPart(key, partial, await readTail(partial));
          const { uploadId: UploadId, parts: Parts } = partial;
          const command = new CompleteMultipartUploadCommand({
            ...locate(key),
            UploadId: UploadId ?? undefined,
            MultipartUpload: { Parts },
          });
          const { ETag } = await withMissing('complete an upload', () => client.send(command));
          // S3 sends the status before it knows the outcome, so a response with status 200 may be an error.
          if (ETag === undefined) throw toUnavailable(new Error('The response to CompleteMultipartUpload has no ETag'));
        }
      } catch (error) {
        // An earlier call may have completed the object without its caller learning about it.
        if (!(error instanceof ObjectMissingError) || !(await hasObject(key, state.size))) throw error;
      }
      await removeTail(toS3Partial(state));
    },

    async discard(key, state) {
      const partial = toS3Partial(state);
      const { uploadId: UploadId } = partial;
      if (UploadId !== null)
        await withMissing('remove an upload', () =>
          client.send(new AbortMultipartUploadCommand({ ...locate(key), UploadId })),
        ).catch((error: unknown) => {
          if (!(error instanceof ObjectMissingError)) throw error;
        });
      await removeTail(partial);
    },

    async takeOver(_key, state, onStored) {
      const partial = toS3Partial(state);
      const next: S3Partial = { ...partial, nextNumber: partial.nextNumber + TAKE_OVER_GAP };
      await onStored(next);
      return next;
    },
  };
}

/** `as`: the state was created by this store. */
function toS3Partial(state: PartialObject): S3Partial {
  return state as S3Partial;
}

function emptyPartial(contentType: string): S3Partial {
  return { size: 0, uploadId: null, parts: [], nextNumber: 1, contentType, tail: null };
}

/** Runs `work`. Throws ObjectMissingError if the object or the upload does not exist, else StorageUnavailableError. */
async function withMissing<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isMissing =
      error instanceof S3ServiceException && ['NoSuchUpload', 'NoSuchKey', 'NotFound'].includes(error.name);
    throw isMissing ? new ObjectMissingError(error) : toUnavailable(error, what);
  }
}

/**
 * Collects chunks into parts of PART_BYTES. Two buffers are enough: one is sent while the other is filled. They are
 * taken from `spare`, if it has any, and put back by `release`.
 */
function collectParts(head: Buffer, spare: Buffer[]) {
  const newBuffer = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
  let current = newBuffer();
  let sent: Buffer | null = null;
  let filled = head.copy(current);
  return {
    *add(chunk: Buffer): Generator<Buffer> {
      let rest = chunk;
      while (rest.length > 0) {
        if (filled === PART_BYTES) {
          [current, sent] = [sent ?? newBuffer(), current];
          filled = 0;
        }
        const copied = rest.copy(current, filled, 0, PART_BYTES - filled);
        filled += copied;
        rest = rest.subarray(copied);
        if (filled === PART_BYTES) yield current;
      }
    },
    /** The bytes after the last full part. */
    rest: () => (filled === PART_BYTES ? Buffer.alloc(0) : current.subarray(0, filled)),
    release(): void {
      for (const buffer of [current, sent]) if (buffer !== null && spare.length < MAX_SPARE_BUFFERS) spare.push(buffer);
    },
  };
}
