import { Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '../core/time.ts';
import { attachmentDisposition, inlineDisposition } from './content-disposition.ts';
import { assertObjectKey, directoryPrefix, isObjectKey, nameOfKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { ObjectMissingError, StorageUnavailableError } from './object-store.ts';
import { createS3Partials } from './s3-append.ts';
import { copyObject, toUnavailable, uploadStream } from './s3-upload.ts';
import { withoutUploads } from './stale-uploads.ts';
import { OWNER_OBJECT } from './store-owner.ts';

export type S3StoreOptions = {
  bucket: string;
  region: string;
  /** The clock for signing URLs. Their lifetime starts at the clock's current time. */
  clock: Clock;
  /** The URL of a server other than AWS, as this process reaches it. */
  endpoint?: string | undefined;
  /** The URL of the same server as browsers reach it, for download URLs. The default is `endpoint`. */
  publicEndpoint?: string | undefined;
  /** Without a key and secret, the SDK uses its default chain (environment, profile, role of the machine). */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  /** Whether URLs are `endpoint/bucket/key` instead of `bucket.endpoint/key`. Most servers other than AWS need it. */
  forcePathStyle?: boolean | undefined;
  /** The directory of this installation within the bucket. Keys do not include it. */
  prefix?: string | undefined;
  /**
   * When the SDK adds CRC32 checksums. The default, WHEN_REQUIRED, works with every server. Several servers respond
   * with 501 to the trailers of WHEN_SUPPORTED, or store them in the object. The signed SHA-256 protects the data in
   * both cases.
   */
  checksums?: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED' | undefined;
  /** The time to establish a connection, in milliseconds; 3000 by default. Each request has 3 attempts. */
  connectTimeoutMs?: number | undefined;
  /** How long a connection may be idle during a request, in milliseconds; 4000 by default, and 9000 for a copy. */
  idleTimeoutMs?: number | undefined;
};

const MAX_ATTEMPTS = 3;
/**
 * With this timeout, an upload to a server that does not respond fails within 15 s. This includes 3 attempts, the
 * pauses between them and the cleanup.
 */
const IDLE_TIMEOUT_MS = 4_000;
/**
 * The server needs time to copy, so a copy gets a single long attempt. The SDK adds 3 s to any timeout of 6 s or more,
 * so a copy fails after 12 s without data.
 */
const COPY_IDLE_TIMEOUT_MS = 9_000;
const READY_TIMEOUT_MS = 5000;

/** Stores objects in a bucket of S3, or of a server with the same protocol. Creating it sends no request. */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const client = new S3Client(clientConfig(options, options.endpoint));
  const publicClient = new S3Client(clientConfig(options, options.publicEndpoint ?? options.endpoint));
  const { idleTimeoutMs = COPY_IDLE_TIMEOUT_MS } = options;
  const copyClient = new S3Client({
    ...clientConfig({ ...options, idleTimeoutMs }, options.endpoint),
    maxAttempts: 1,
  });
  const Bucket = options.bucket;
  const prefix = directoryPrefix(options.prefix);

  const locate = (key: string) => {
    assertObjectKey(key);
    return { Bucket, Key: prefix + key };
  };

  return {
    async put(key, source, { contentType, signal }) {
      await uploadStream(client, { ...locate(key), ContentType: contentType }, source, signal);
    },

    async copy(from, to) {
      await copyObject(copyClient, locate(from), locate(to));
    },

    async remove(key, { signal } = {}) {
      signal?.throwIfAborted();
      const command = new DeleteObjectCommand(locate(key));
      await withStoreErrors('remove an object', async () => {
        await client.send(command, { ...(signal && { abortSignal: signal }) }).catch((error: unknown) => {
          // S3 responds with 204 for an object that does not exist, but some servers respond with this error.
          if (!hasName(error, 'NoSuchKey')) throw error;
        });
      }).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      });
    },

    async signDownload(key, { filename, contentType, isInline, expiresInSeconds }) {
      const command = new GetObjectCommand({
        ...locate(key),
        ResponseContentDisposition: (isInline ? inlineDisposition : attachmentDisposition)(filename),
        ResponseContentType: contentType,
        ResponseCacheControl: 'private, no-store',
      });
      return withStoreErrors('sign a URL', () =>
        getSignedUrl(publicClient, command, {
          expiresIn: Math.floor(expiresInSeconds),
          signingDate: options.clock.now(),
        }),
      );
    },

    async *list(keyPrefix) {
      // StartAfter needs no state on the server, unlike ContinuationToken, and more servers implement it correctly.
      let last = '';
      let StartAfter: string | undefined;
      do {
        const command = new ListObjectsV2Command({ Bucket, Prefix: prefix + keyPrefix, StartAfter });
        const page = await withStoreErrors('list objects', () => client.send(command));
        for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
          // The sweep compares sorted lists. It would mistake objects that are out of order for orphans.
          if (Key <= last) throw new StorageUnavailableError('The object store listed keys out of order', undefined);
          last = Key;
          const key = Key.slice(prefix.length);
          // Skip objects of other programs, and the empty objects that consoles create for directories.
          if (isObjectKey(key)) yield { key, size: Size, modifiedAt: LastModified };
        }
        StartAfter = page.IsTruncated ? page.Contents?.at(-1)?.Key : undefined;
      } while (StartAfter !== undefined);
    },

    partial: createS3Partials(client, locate),

    async read(key, { start, end } = { start: 0 }) {
      const Range = `bytes=${start}-${end === undefined ? '' : end - 1}`;
      return withStoreErrors('read an object', async () => {
        const { Body } = await client.send(new GetObjectCommand({ ...locate(key), Range }));
        if (!(Body instanceof Readable)) throw new Error('The response to GetObject has no body');
        return Body;
      }).catch((error: unknown) => {
        throw error instanceof Error && hasName(error.cause, 'NoSuchKey') ? new ObjectMissingError(error) : error;
      });
    },

    async removeStaleUploads(before, findInProgress) {
      await withStoreErrors('remove stale uploads', async () => {
        const stale = staleUploads(client, Bucket, prefix, before);
        for await (const { Key, UploadId } of withoutUploads(stale, findInProgress)) {
          await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
            // The upload was completed or aborted in the meantime.
            if (!hasName(error, 'NoSuchUpload')) throw error;
          });
        }
      });
    },

    owner: {
      async read() {
        const command = new GetObjectCommand({ Bucket, Key: prefix + OWNER_OBJECT });
        return withStoreErrors('read its owner', async () => {
          const found = await client.send(command).catch((error: unknown) => {
            if (hasName(error, 'NoSuchKey')) return null;
            throw error;
          });
          return (await found?.Body?.transformToString())?.trim() ?? null;
        });
      },
      async write(name) {
        const command = new PutObjectCommand({ Bucket, Key: prefix + OWNER_OBJECT, Body: `${name}\n` });
        await withStoreErrors('write its owner', () => client.send(command));
      },
    },

    async checkReady() {
      const abortSignal = AbortSignal.timeout(READY_TIMEOUT_MS);
      await withStoreErrors('answer', () => client.send(new HeadBucketCommand({ Bucket }), { abortSignal }));
    },
  };
}

function clientConfig(options: S3StoreOptions, endpoint: string | undefined): S3ClientConfig {
  const { accessKeyId, secretAccessKey, checksums = 'WHEN_REQUIRED' } = options;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new TypeError('accessKeyId and secretAccessKey must be set together');
  }
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  return {
    region: options.region,
    forcePathStyle: options.forcePathStyle ?? false,
    maxAttempts: MAX_ATTEMPTS,
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    // Waiting for `100 Continue` would need a new connection for each part, and delay an abort until the wait is over.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs ?? 3000,
      socketTimeout: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
      // Each upload has at most two requests in flight. With a limit here, waiting for a socket would count toward the
      // connection timeout.
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
  };
}

/**
 * Runs `work` and converts its errors to StorageUnavailableError. `what` completes "The object store could not ...".
 */
async function withStoreErrors<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toUnavailable(error, what);
  }
}

function hasName(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

/** Yields the unfinished multipart uploads that began before `before`. */
async function* staleUploads(client: S3Client, Bucket: string, prefix: string, before: Date) {
  for await (const { Key = '', UploadId, Initiated } of listUploads(client, Bucket, prefix))
    if (Initiated !== undefined && Initiated < before) yield { Key, UploadId, name: nameOfKey(Key) };
}

/**
 * Yields the unfinished multipart uploads below a prefix. Yields nothing for servers that respond with 501 or 405,
 * because they have no such list, or expire unfinished uploads themselves.
 */
async function* listUploads(client: S3Client, Bucket: string, Prefix: string) {
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  do {
    const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({ Bucket, Prefix, ...markers });
    const page = await client.send(command).catch((error: unknown) => {
      const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
      if (status === 501 || status === 405) return undefined;
      throw error;
    });
    yield* page?.Uploads ?? [];
    const { NextKeyMarker, NextUploadIdMarker, IsTruncated } = page ?? {};
    markers =
      IsTruncated && NextKeyMarker
        ? { KeyMarker: NextKeyMarker, ...(NextUploadIdMarker && { UploadIdMarker: NextUploadIdMarker }) }
        : undefined;
  } while (markers !== undefined);
}
