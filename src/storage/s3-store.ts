import type { S3ClientConfig } from '@aws-sdk/client-s3';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { attachmentDisposition } from './content-disposition.ts';
import { assertObjectKey, isObjectKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { StorageUnavailableError } from './object-store.ts';
import { copyObject, uploadStream } from './s3-upload.ts';

export type S3StoreOptions = {
  bucket: string;
  region: string;
  /** Of a server other than AWS, as this process reaches it. */
  endpoint?: string | undefined;
  /** The same server as browsers reach it; download URLs name it. The default is `endpoint`. */
  publicEndpoint?: string | undefined;
  /** With `secretAccessKey`; without both, the SDK's default chain (environment, profile, role of the machine). */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  /** `endpoint/bucket/key` in place of `bucket.endpoint/key`; most servers other than AWS need it. */
  forcePathStyle?: boolean | undefined;
  /** Folder of this installation within the bucket; keys are seen without it. */
  prefix?: string | undefined;
  /**
   * When the SDK adds CRC32 checksums. The default WHEN_REQUIRED suits every server: several answer 501 to the
   * trailers of WHEN_SUPPORTED or store them in the object. Bytes are covered all the same, by the SHA-256 that is signed.
   */
  checksums?: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED' | undefined;
  /** Milliseconds until a connection must stand (3000), and that one may be silent (20000). Each request has 3 attempts. */
  connectTimeoutMs?: number | undefined;
  idleTimeoutMs?: number | undefined;
};

const MAX_ATTEMPTS = 3;
const READY_WITHIN_MS = 5000;

/** Keeps objects in a bucket of S3 or of a server that speaks its protocol. Contacts nothing until it is used. */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const client = new S3Client(clientConfig(options, options.endpoint));
  const publicClient = new S3Client(clientConfig(options, options.publicEndpoint ?? options.endpoint));
  const Bucket = options.bucket;
  const prefix = folderPrefix(options.prefix);

  const locate = (key: string) => {
    assertObjectKey(key);
    return { Bucket, Key: prefix + key };
  };

  return {
    async put(key, source, { contentType, signal }) {
      await uploadStream(client, { ...locate(key), ContentType: contentType }, source, signal);
    },

    async copy(from, to) {
      await copyObject(client, locate(from), locate(to));
    },

    async remove(key, { signal } = {}) {
      signal?.throwIfAborted();
      const command = new DeleteObjectCommand(locate(key));
      await asking('remove an object', async () => {
        await client.send(command, { ...(signal && { abortSignal: signal }) }).catch((error: unknown) => {
          // S3 answers 204 for an object that is not there; some servers answer this.
          if (!hasName(error, 'NoSuchKey')) throw error;
        });
      }).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      });
    },

    async signDownload(key, { filename, contentType, expiresInSeconds }) {
      const command = new GetObjectCommand({
        ...locate(key),
        ResponseContentDisposition: attachmentDisposition(filename),
        ResponseContentType: contentType,
        ResponseCacheControl: 'private, no-store',
      });
      return asking('sign a URL', () =>
        getSignedUrl(publicClient, command, { expiresIn: Math.floor(expiresInSeconds) }),
      );
    },

    async *list(keyPrefix) {
      // StartAfter in place of ContinuationToken: it needs no state of the server, and more servers get it right.
      let last = '';
      let StartAfter: string | undefined;
      do {
        const command = new ListObjectsV2Command({ Bucket, Prefix: prefix + keyPrefix, StartAfter });
        const page = await asking('list objects', () => client.send(command));
        for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
          // A caller that walks two sorted lists at once would take objects out of order for ones without a record.
          if (Key <= last) throw new StorageUnavailableError('The object store lists keys out of order', undefined);
          last = Key;
          const key = Key.slice(prefix.length);
          // What others keep there, and the empty objects by which consoles show folders, are none of ours.
          if (isObjectKey(key)) yield { key, size: Size, modifiedAt: LastModified };
        }
        StartAfter = page.IsTruncated ? page.Contents?.at(-1)?.Key : undefined;
      } while (StartAfter !== undefined);
    },

    async removeStaleUploads(before) {
      await asking('remove stale uploads', async () => {
        for await (const { Key, UploadId, Initiated } of listUploads(client, Bucket, prefix)) {
          if (Initiated === undefined || Initiated >= before) continue;
          await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
            // It was completed or aborted in the meantime.
            if (!hasName(error, 'NoSuchUpload')) throw error;
          });
        }
      });
    },

    async checkReady() {
      const abortSignal = AbortSignal.timeout(READY_WITHIN_MS);
      await asking('answer', () => client.send(new HeadBucketCommand({ Bucket }), { abortSignal }));
    },
  };
}

function clientConfig(options: S3StoreOptions, endpoint: string | undefined): S3ClientConfig {
  const { accessKeyId, secretAccessKey, checksums = 'WHEN_REQUIRED' } = options;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new TypeError('An S3 access key id and its secret come together');
  }
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  return {
    region: options.region,
    forcePathStyle: options.forcePathStyle ?? false,
    maxAttempts: MAX_ATTEMPTS,
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    // Waiting for `100 Continue` costs a new connection for each part, and hides an abort until the wait is over.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs ?? 3000,
      socketTimeout: options.idleTimeoutMs ?? 20_000,
      // Two requests an upload at most. A limit here would make waiting for a socket count as failing to connect.
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
  };
}

/** `''`, or the folder with one slash behind it and none before. */
function folderPrefix(prefix = ''): string {
  const folder = prefix.replace(/^\/+|\/+$/g, '');
  return folder === '' ? '' : `${folder}/`;
}

async function asking<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StorageUnavailableError(`The object store could not ${what}`, error);
  }
}

function hasName(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

/**
 * The multipart uploads under way below a prefix. Nothing for servers that answer 501 or 405: they keep no such list,
 * or expire left-overs themselves, and an upload there must not fail for what only tidies up.
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
