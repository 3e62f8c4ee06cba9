/** Reads a text/csv body as a stream. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../core/errors.ts';
import { type OpenBody, openByteStream, type StreamTimeouts } from './streaming-body.ts';

const MEBIBYTE = 1024 * 1024;

/** Starts to read a CSV body. The stream fails with 413 after `maxBytes`, and with 408 if the body is too slow. */
export function openCsvBody(
  request: IncomingMessage,
  limits: StreamTimeouts & { maxBytes: number },
): OpenBody<AsyncIterable<Buffer>> {
  const open = openByteStream(request, limits);
  let total = 0;
  request.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (total > limits.maxBytes) open.body.destroy(csvTooLarge(limits.maxBytes));
  });
  return open;
}

export function csvTooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `File is larger than ${maxBytes / MEBIBYTE} MiB`);
}
