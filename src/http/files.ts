import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../auth/networks.ts';
import { AppError, storageUnavailable } from '../core/errors.ts';
import type { ByteRange } from '../storage/byte-range.ts';
import { parseRange } from '../storage/byte-range.ts';
import { attachmentDisposition, inlineDisposition } from '../storage/content-disposition.ts';
import type { DiskFiles, OpenedFile } from '../storage/disk-store.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { createDownloadSlots, type DownloadLimits, defaultDownloadLimits } from './download-limits.ts';
import { createSlowReaders, defaultSlowReaderLimits, type SlowReaderLimits } from './slow-readers.ts';

const CHUNK_BYTES = 64 * 1024;

const ATTACHMENT_POLICY = "sandbox; default-src 'none'";
/** When a browser opens a video as a page, it requests the video a second time, as media. */
const INLINE_POLICY = `${ATTACHMENT_POLICY}; media-src 'self'`;

export type FileOptions = {
  files: DiskFiles;
  /** Whether the row of an object was deleted, although its file may still be there. */
  isDiscarded(key: string): Promise<boolean>;
  limits?: Partial<DownloadLimits>;
  slowReaders?: Partial<SlowReaderLimits>;
};

/**
 * Serves the disk store's signed URLs: `GET` and `HEAD /files/*`. A file is sent with its fixed type and a sandbox
 * policy, so that browsers neither guess its type nor execute it under the service's origin. It is sent as an
 * attachment unless the URL was signed for display. Throws 403 if the URL is expired, altered or malformed, 404 if the
 * object was deleted, 416 if the range is outside the file, and 429 or 503 if too many downloads are open. If too many
 * clients read slowly, disconnects some of them.
 */
export async function serveFiles(
  app: FastifyInstance,
  { files, isDiscarded, limits, slowReaders }: FileOptions,
): Promise<void> {
  const slots = createDownloadSlots({ ...defaultDownloadLimits, ...limits });
  const readers = createSlowReaders({ ...defaultSlowReaderLimits, ...slowReaders });
  app.route({
    // One route for GET and HEAD, because the HEAD route that Fastify derives from a GET route would read the whole
    // file.
    method: ['GET', 'HEAD'],
    url: '/files/*',
    handler: async (request: FastifyRequest<{ Params: { '*': string } }>, reply) => {
      const url = request.raw.url ?? '';
      await using cleanup = new AsyncDisposableStack();
      const key = request.params['*'];
      const network = networkOf(request.ip);
      cleanup.defer(slots.take({ url, key, network }));
      const file = await openFile(files, key, url);
      cleanup.defer(file.close);
      // A workspace with many files is deleted before all of its files are.
      if (await isDiscarded(key)) throw new AppError('NOT_FOUND', 'File not found');
      const range = writeHeaders(file, request, reply);
      if (request.method === 'HEAD' || file.size === 0) {
        // Releases the slot before the response ends, so that it is free for the client's next download.
        await cleanup.disposeAsync();
        return reply.send();
      }

      const download = createDownload(file, range);
      cleanup.defer(readers.watch({ response: reply.raw, network, url, sentBytes: download.sentBytes }));
      // The stream closes when it ends, or when Fastify destroys it because the client has disconnected.
      const atClose = cleanup.move();
      download.stream.once('close', () => void atClose.disposeAsync());
      return reply.send(download.stream);
    },
  });
}

async function openFile(files: DiskFiles, key: string, url: string): Promise<OpenedFile> {
  const queryStart = url.indexOf('?');
  try {
    return await files.openSigned(key, queryStart === -1 ? '' : url.slice(queryStart + 1));
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    throw storageUnavailable('Download failed: storage service unavailable', error);
  }
}

/** Sets the status and headers of the response. Returns the range to send. Throws 416 if it is outside the file. */
function writeHeaders(file: OpenedFile, request: FastifyRequest, reply: FastifyReply): ByteRange {
  const range = requestedRange(file, request);
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`);
    throw new AppError('RANGE_NOT_SATISFIABLE', 'Range not satisfiable');
  }
  const { first, last } = range === 'whole' ? { first: 0, last: file.size - 1 } : range;
  reply.code(range === 'whole' ? 200 : 206).headers({
    'accept-ranges': 'bytes',
    // Only a valid URL grants access, so a cache must not keep the file after the URL expires.
    'cache-control': 'private, no-store',
    'content-disposition': (file.isInline ? inlineDisposition : attachmentDisposition)(file.filename),
    'content-length': last - first + 1,
    'content-security-policy': file.isInline ? INLINE_POLICY : ATTACHMENT_POLICY,
    'content-type': file.contentType,
    etag: file.etag,
    'last-modified': file.modifiedAt.toUTCString(),
    'x-content-type-options': 'nosniff',
  });
  if (range !== 'whole') reply.header('content-range', `bytes ${first}-${last}/${file.size}`);
  return { first, last };
}

/**
 * `Range` applies only to GET, and only if `If-Range` is absent or names this version (RFC 9110 sections 13.1.5, 14.2).
 */
function requestedRange(file: OpenedFile, { method, headers }: FastifyRequest): ByteRange | 'whole' | 'unsatisfiable' {
  const ifRange = headers['if-range'];
  const current = ifRange === undefined || ifRange === file.etag || ifRange === file.modifiedAt.toUTCString();
  return method === 'GET' && current ? parseRange(headers.range, file.size) : 'whole';
}

/**
 * Reads a range only as fast as the client receives it. `sentBytes` counts the bytes that were passed to the
 * connection.
 */
function createDownload({ handle }: OpenedFile, { first, last }: ByteRange) {
  let position = first;
  async function* readChunks(): AsyncGenerator<Buffer> {
    while (position <= last) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, last - position + 1));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
      // The error closes the connection: a response that merely ended early would look complete.
      if (bytesRead === 0) throw new Error('A stored file ended before its expected size');
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  }
  const stream = Readable.from(readChunks(), { objectMode: false, highWaterMark: 0 });
  return { stream, sentBytes: () => position - first };
}
