/** Reading a multipart/form-data body (RFC 7578) as it streams in. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { badField, badRequest } from '../core/errors.ts';
import type { IncomingFile, IncomingUpload } from '../media/receive-file.ts';
import { pipeBody } from './streaming-body.ts';

const MAX_FIELDS = 50;
const MAX_FIELD_BYTES = 64 * 1024;
/** Besides the one that counts, some file parts of other names may come along; they are read over. */
const MAX_FILES = 5;
/** As much as one read from a connection brings; more only keeps more in memory. */
const CHUNK_BYTES = 64 * 1024;

/** A body being read. `stop` ends it: nothing more is parsed, and whoever waits for a part of it hears `reason`. */
export type MultipartUpload = IncomingUpload & { stop(reason: unknown): void };

/**
 * Begins to read `request`. `file` settles at the head of the part named `file`, `fields` at the end of the body; both
 * reject with 400 for a body that is no multipart, is malformed, ends early or has too many parts. The request's bytes
 * are pulled only as fast as the file is read.
 */
export function readMultipart(request: IncomingMessage): MultipartUpload {
  const file = Promise.withResolvers<IncomingFile>();
  const fields = Promise.withResolvers<Record<string, string>>();
  const end = new AbortController();
  // Whoever reads the upload may have stopped at the first of the two.
  file.promise.catch(() => {});
  fields.promise.catch(() => {});

  const parser = createParser(request);
  const texts: Record<string, string> = Object.create(null);
  let current: Readable | undefined;

  const stop = (reason: unknown): void => {
    if (end.signal.aborted) return;
    end.abort(reason);
    file.reject(reason);
    fields.reject(reason);
    if (parser === null) return;
    request.unpipe(parser);
    // The part that is being read never ends by itself; whoever reads it learns why.
    current?.destroy(reason instanceof Error ? reason : new Error('The upload was refused', { cause: reason }));
    parser.destroy();
  };
  const upload = { file: file.promise, fields: fields.promise, signal: end.signal, stop };

  // No multipart body, or one without a readable boundary.
  if (parser === null) {
    stop(badField('file', 'File is required'));
    return upload;
  }

  parser.on('file', (name, stream, info) => {
    // It is read to its end or destroyed; an error that comes after that concerns nobody.
    stream.on('error', () => {});
    if (name !== 'file') return stream.resume();
    if (current) return stop(badField('file', 'Only one file can be uploaded at a time'));
    current = stream;
    file.resolve({ stream, filename: info.filename ?? '', declaredType: info.mimeType });
  });
  parser.on('field', (name, value, { valueTruncated }) => {
    // Undefined for a part without a name, whatever busboy's types say.
    const label = String(name);
    if (valueTruncated) return stop(badField(label.slice(0, 100), `${label.slice(0, 100)} is too long`));
    texts[label] = value;
  });
  parser.on('fieldsLimit', () => stop(badRequest('The body has too many fields')));
  parser.on('filesLimit', () => stop(badRequest('The body has too many files')));
  parser.on('error', () => stop(badRequest('Malformed multipart body')));
  parser.on('close', () => {
    file.reject(badField('file', 'File is required'));
    fields.resolve(texts);
  });

  pipeBody(request, parser, stop);
  return upload;
}

function createParser(request: IncomingMessage): busboy.Busboy | null {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      highWaterMark: CHUNK_BYTES,
      fileHwm: CHUNK_BYTES,
      // No fileSize: busboy flags its limit at exactly that many bytes. The upload counts for itself.
      limits: { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, files: MAX_FILES },
    });
  } catch {
    return null;
  }
}
