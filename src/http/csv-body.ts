/** Reads a text/csv body as a stream. */
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { AppError } from '../core/errors.ts';
import { guardBody, type OpenBody, pipeBody, type StreamTimeouts } from './streaming-body.ts';

const MEBIBYTE = 1024 * 1024;

/** Starts to read a CSV body. The stream fails with 413 after `maxBytes`, and with 408 if the body is too slow. */
export function openCsvBody(
  request: IncomingMessage,
  limits: StreamTimeouts & { maxBytes: number },
): OpenBody<AsyncIterable<Buffer>> {
  // A separate stream, because the request itself must stay open for the response if the reader stops early.
  const bytes = new PassThrough();
  let total = 0;
  const stop = (reason: AppError): void => {
    request.unpipe(bytes);
    bytes.destroy(reason);
  };
  const count = (chunk: Buffer): void => {
    total += chunk.length;
    if (total > limits.maxBytes) stop(csvTooLarge(limits.maxBytes));
  };
  // Ignores errors after the reader has stopped.
  bytes.on('error', () => {});
  request.on('data', count);
  pipeBody(request, bytes, stop);
  const endWatch = guardBody(request, limits, stop);
  return {
    body: bytes,
    fail: (error) => error,
    close() {
      endWatch();
      bytes.destroy();
    },
  };
}

export function csvTooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `File is larger than ${maxBytes / MEBIBYTE} MiB`);
}
