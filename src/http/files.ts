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
 * Serves the disk store's signed URLs: `GET` and `HEAD /files/*`. A file is sent as an attachment with its fixed type
 * and a sandbox policy, so that browsers neither guess its type nor execute it or display it under the service's
 * origin. Throws 403 for a URL that is expired, altered or malformed, 404 if the object was deleted, and 416 for a
 * range outside the file.
 */
export async function serveFiles(
  app: FastifyInstance,
  { files, stallMs = STALL_MS }: { files: DiskFiles; stallMs?: number },
): Promise<void> {
  app.route({
    // One route for both. The HEAD route that Fastify derives from a GET would read the whole file.
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

/** Sends the file and closes its handle. When it throws, the handle is still open. */
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
    // Only a valid URL grants access, so no cache may keep the file after the URL expires.
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
  // A client that reads nothing for this long is disconnected. The next response sets its own timeout.
  reply.raw.setTimeout(stallMs, () => reply.raw.destroy());
  // The stream closes the handle when it ends, and when Fastify destroys it because the client has disconnected.
  return reply.send(file.handle.createReadStream({ start: first, end: last, highWaterMark: READ_BUFFER_BYTES }));
}

/** `Range` applies to GET only, and only if `If-Range` names this version (RFC 9110 sections 13.1.5, 14.2). */
function requestedRange(file: OpenedFile, { method, headers }: FastifyRequest): ByteRange | 'whole' | 'unsatisfiable' {
  const ifRange = headers['if-range'];
  const current = ifRange === undefined || ifRange === file.etag || ifRange === file.modifiedAt.toUTCString();
  return method === 'GET' && current ? parseRange(headers.range, file.size) : 'whole';
}
