import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, storageUnavailable } from '../core/errors.ts';
import type { ByteRange } from '../storage/byte-range.ts';
import { parseRange } from '../storage/byte-range.ts';
import { attachmentDisposition } from '../storage/content-disposition.ts';
import type { DiskFiles, OpenedFile } from '../storage/disk-store.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';

const STALL_MS = 30_000;
const READ_BUFFER_BYTES = 256 * 1024;

/**
 * Serves the disk store's signed URLs: `GET` and `HEAD /files/*`. Whatever was uploaded leaves as an attachment with
 * its fixed type, which no browser may guess otherwise, run or show as a page of ours.
 * Throws AppError: 403 for a URL that is expired, altered or malformed, 404 when the object is gone, 416.
 */
export async function serveFiles(
  app: FastifyInstance,
  { files, stallMs = STALL_MS }: { files: DiskFiles; stallMs?: number },
): Promise<void> {
  app.route({
    // One route for both: the HEAD route that Fastify derives from a GET would read the whole file.
    method: ['GET', 'HEAD'],
    url: '/files/*',
    handler: async (request: FastifyRequest<{ Params: { '*': string } }>, reply) => {
      const file = await openFile(files, request.params['*'], request.raw.url ?? '');
      try {
        return await sendFile(file, request, reply, stallMs);
      } catch (error) {
        await file.handle.close();
        throw error;
      }
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

/** Sends the file, and closes its handle in every case but that of an error that it throws. */
async function sendFile(
  file: OpenedFile,
  request: FastifyRequest,
  reply: FastifyReply,
  stallMs: number,
): Promise<FastifyReply> {
  const range = requestedRange(file, request);
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`);
    throw new AppError('RANGE_NOT_SATISFIABLE', 'Range not satisfiable');
  }
  const { first, last } = range === 'whole' ? { first: 0, last: file.size - 1 } : range;
  reply.code(range === 'whole' ? 200 : 206).headers({
    'accept-ranges': 'bytes',
    // A URL is a capability: it must not live on in caches after it expires.
    'cache-control': 'private, no-store',
    'content-disposition': attachmentDisposition(file.filename),
    'content-length': last - first + 1,
    'content-security-policy': "sandbox; default-src 'none'",
    'content-type': file.contentType,
    etag: file.etag,
    'last-modified': file.modifiedAt.toUTCString(),
    'x-content-type-options': 'nosniff',
  });
  if (range !== 'whole') reply.header('content-range', `bytes ${first}-${last}/${file.size}`);

  if (request.method === 'HEAD' || file.size === 0) {
    await file.handle.close();
    return reply.send();
  }
  // A reader that takes nothing for this long holds a file open for nobody; the next answer sets its own time.
  reply.raw.setTimeout(stallMs, () => reply.raw.destroy());
  // The stream closes the handle when it ends, and when a client that hangs up makes Fastify destroy it.
  return reply.send(file.handle.createReadStream({ start: first, end: last, highWaterMark: READ_BUFFER_BYTES }));
}

/** `Range` means something only for GET, and only while the client's copy is this one (RFC 9110 sections 13.1.5, 14.2). */
function requestedRange(file: OpenedFile, { method, headers }: FastifyRequest): ByteRange | 'whole' | 'unsatisfiable' {
  const ifRange = headers['if-range'];
  const current = ifRange === undefined || ifRange === file.etag || ifRange === file.modifiedAt.toUTCString();
  return method === 'GET' && current ? parseRange(headers.range, file.size) : 'whole';
}
