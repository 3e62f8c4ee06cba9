/** Reading a multipart/form-data body (RFC 7578) as it streams in. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { badField, badRequest } from '../core/errors.ts';
import type { IncomingUpload } from '../routers/library/upload.ts';

const MOST_FIELDS = 50;
const MOST_FIELD_BYTES = 64 * 1024;
/** Besides the one that counts, some file parts of other names may come along; they are read over. */
const MOST_FILES = 5;
const CHUNK_BYTES = 256 * 1024;

/** A body being read. `stop` ends it: nothing more is parsed, and whoever waits for a part of it hears `reason`. */
export type MultipartUpload = IncomingUpload & { stop(reason: unknown): void };

/**
 * Begins to read `request`. `file` settles at the head of the part named `file`, `fields` at the end of the body; both
 * reject with 400 for a body that is no multipart, is malformed, ends early or has too many parts. The request's bytes
 * are pulled only as fast as the file is read.
 */
export const readMultipart = (request: IncomingMessage): MultipartUpload => {
  const file = Promise.withResolvers<Awaited<IncomingUpload['file']>>();
  const fields = Promise.withResolvers<Record<string, string>>();
  // Whoever reads the upload may have stopped at the first of the two.
  file.promise.catch(() => {});
  fields.promise.catch(() => {});

  let parser: busboy.Busboy;
  try {
    parser = busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      highWaterMark: CHUNK_BYTES,
      fileHwm: CHUNK_BYTES,
      // No fileSize: busboy flags its limit at exactly that many bytes. The upload counts for itself.
      limits: { fields: MOST_FIELDS, fieldSize: MOST_FIELD_BYTES, fieldNameSize: 256, files: MOST_FILES },
    });
  } catch {
    // No multipart body, or one without a boundary.
    file.reject(badField('file', 'File is required'));
    fields.reject(badField('file', 'File is required'));
    return { file: file.promise, fields: fields.promise, stop: () => {} };
  }

  const texts: Record<string, string> = Object.create(null);
  let hasFile = false;
  let current: Readable | undefined;

  const fail = (error: unknown): void => {
    file.reject(error);
    fields.reject(error);
    request.unpipe(parser);
    // The part that is being read never ends by itself; whoever reads it learns why.
    current?.destroy(error instanceof Error ? error : new Error('The upload was refused', { cause: error }));
    parser.destroy();
  };

  parser.on('file', (name, stream, info) => {
    if (name !== 'file') {
      stream.resume();
      return;
    }
    if (hasFile) {
      stream.resume();
      return fail(badField('file', 'Only one file can be uploaded at a time'));
    }
    hasFile = true;
    current = stream;
    // It is read to its end or destroyed; an error that comes after that concerns nobody.
    stream.on('error', () => {});
    file.resolve({ stream, filename: info.filename ?? '', declaredType: info.mimeType });
  });
  parser.on('field', (name, value, info) => {
    if (info.valueTruncated) return fail(badField(name, `${name} is too long`));
    texts[name] = value;
  });
  parser.on('fieldsLimit', () => fail(badRequest('The body has too many fields')));
  parser.on('filesLimit', () => fail(badRequest('The body has too many files')));
  parser.on('error', () => fail(badRequest('Malformed multipart body')));
  parser.on('close', () => {
    if (!hasFile) file.reject(badField('file', 'File is required'));
    fields.resolve(texts);
  });
  request.on('aborted', () => fail(badRequest('The request was cut off')));
  request.on('error', () => fail(badRequest('The request was cut off')));
  request.pipe(parser);
  return { file: file.promise, fields: fields.promise, stop: fail };
};
