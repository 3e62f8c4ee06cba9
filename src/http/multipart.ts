/** Reads a multipart/form-data body (RFC 7578) as a stream. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { type AppError, badField, badRequest } from '../core/errors.ts';
import type { IncomingFile, IncomingUpload } from '../media/receive-file.ts';
import { guardBody, type OpenBody, pipeBody, type StreamTimeouts } from './streaming-body.ts';

/** Includes parts without a name: busboy counts them neither as fields nor as files. */
const MAX_PARTS = 60;
const MAX_FIELDS = 50;
const MAX_FIELD_BYTES = 64 * 1024;
/** The maximum number of file parts, including parts that are skipped because their name is not `file`. */
const MAX_FILES = 5;
/** The size of one read from a connection. A larger value would only use more memory. */
const CHUNK_BYTES = 64 * 1024;

/** The encodings of RFC 2045 that leave the bytes as they are. RFC 7578 section 4.7 deprecates the others. */
const identityEncodings: readonly string[] = ['7bit', '8bit', 'binary'];

/** `stop` ends the parsing. Promises that are still pending and streams that have not ended fail with `reason`. */
type MultipartUpload = IncomingUpload & { stop(reason: unknown): void };

/** Starts to read an upload with one file of at most `maxBytes`. */
export function openMultipartBody(
  request: IncomingMessage,
  limits: StreamTimeouts & { maxBytes: number },
): OpenBody<IncomingUpload> {
  const upload = readMultipart(request);
  const endWatch = guardBody(request, limits, upload.stop);
  return {
    body: upload,
    fail(error) {
      const reason: unknown = upload.signal.aborted ? upload.signal.reason : error;
      upload.stop(reason);
      return reason;
    },
    close: endWatch,
  };
}

/**
 * Starts to read `request`. `file` resolves at the beginning of the part named `file`, and `fields` at the end of the
 * body. Both reject with 400 if the body is not multipart, is malformed, ends early or has too many parts. The request
 * is read only as fast as the file is consumed.
 */
function readMultipart(request: IncomingMessage): MultipartUpload {
  const file = Promise.withResolvers<IncomingFile>();
  const fields = Promise.withResolvers<Record<string, string>>();
  const end = new AbortController();
  // A reader that stops after the first rejection would leave the second rejection unhandled.
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
    // Without this, the reader of the current part would wait forever.
    current?.destroy(reason instanceof Error ? reason : new Error('The upload was refused', { cause: reason }));
    parser.destroy();
  };
  const upload = { file: file.promise, fields: fields.promise, signal: end.signal, stop };

  if (parser === null) {
    stop(badField('file', 'File is required'));
    return upload;
  }

  parser.on('file', (name, stream, info) => {
    // Ignores errors after the reader has stopped.
    stream.on('error', () => {});
    const label = toLabel(name);
    if (!identityEncodings.includes(info.encoding)) return stop(encodedPart(label, info.encoding));
    if (label !== 'file') return stream.resume();
    if (current) return stop(badField('file', 'Only one file can be uploaded at a time'));
    current = stream;
    file.resolve({ stream, filename: decodeName(info.filename ?? ''), declaredType: info.mimeType });
  });
  parser.on('field', (name, value, { valueTruncated, encoding }) => {
    const label = toLabel(name);
    if (!identityEncodings.includes(encoding)) return stop(encodedPart(label, encoding));
    if (valueTruncated) return stop(badField(label.slice(0, 100), `${label.slice(0, 100)} is too long`));
    texts[label] = value;
  });
  parser.on('partsLimit', () => stop(badRequest('The body has too many parts')));
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

/** The name of a part. busboy passes undefined for a part without a name, although the type is string. */
function toLabel(name: string | undefined): string {
  return decodeName(String(name));
}

/**
 * Decodes the three escapes that browsers and `fetch` use in the names of fields and files (WHATWG HTML, "multipart
 * form data"). Every other percent sign is part of the name.
 */
function decodeName(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
}

function encodedPart(label: string, encoding: string): AppError {
  const field = label.slice(0, 100);
  return badField(
    field,
    `${field} has the Content-Transfer-Encoding ${encoding.slice(0, 100)}: send its bytes as they are`,
  );
}

/** Returns null if the content type is not multipart or has no valid boundary. */
function createParser(request: IncomingMessage): busboy.Busboy | null {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      highWaterMark: CHUNK_BYTES,
      fileHwm: CHUNK_BYTES,
      // No `fileSize`, because busboy reports a file of exactly that size as too large. `receiveFile` counts the bytes
      // instead.
      limits: { parts: MAX_PARTS, fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, files: MAX_FILES },
    });
  } catch {
    return null;
  }
}
