/** Request bodies that are processed as streams, with limits on their size, speed and duration. */
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable, type Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { AppError, badRequest } from '../core/errors.ts';
import { HOUR_MS, SECOND_MS } from '../core/time.ts';
import { fileTooLarge } from '../media/receive-file.ts';
import { countBodyBytes } from './minor-gc.ts';

/** The maximum size of all other parts of a multipart body, in addition to the file. */
const EXTRA_BYTES = 8 * 1024 * 1024;
/** The maximum number of bytes of a rejected body that are drained before the connection is closed. */
const MAX_DRAINED_BYTES = 108 * 1024 * 1024;
/** What a shorter chunk of such a body counts as. */
const DRAINED_BYTES_PER_CHUNK = 1024;

export type StreamTimeouts = {
  /** A body is too slow if fewer than `minBytes` arrive in `periodMs` while the server is ready to read. */
  periodMs: number;
  minBytes: number;
  /** How long a body may take. It must be less than a day, because the storage sweep removes older uploads. */
  totalMs: number;
  /** How long a rejected body is drained, so that the client receives the response instead of a reset. */
  drainMs: number;
};

/**
 * At least 1 kB/s, which even the slowest links reach. The rate is averaged over half a minute, because slow links have
 * pauses.
 */
export const defaultTimeouts: StreamTimeouts = {
  periodMs: 30 * SECOND_MS,
  minBytes: 30_000,
  totalMs: 12 * HOUR_MS,
  drainMs: 10 * SECOND_MS,
};

/** A body that is being read. */
export type OpenBody<Body> = {
  body: Body;
  /**
   * Stops reading after the handler has failed. Returns the error to report: the error that ended the body, or else
   * `error`.
   */
  fail(error: unknown): unknown;
  /** Releases timers and streams. Called once, whether the handler succeeds or fails. */
  close(): void;
};

/**
 * Prepares a plugin context for streamed bodies. The handler reads bodies of any type, and a client that is still
 * sending receives its response.
 */
export function leaveBodiesUnread(app: FastifyInstance, timeouts: StreamTimeouts): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onSend', async ({ raw }, reply, payload) => {
    // The unread rest of a body would block the next request on the connection.
    raw.resume();
    if (raw.complete || typeof payload !== 'string') return payload;
    reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(payload) });
    return Readable.from(respondWhileSending(payload, raw, timeouts));
  });
}

/**
 * Yields a response for a client that is still sending. The text is sent immediately, but the response ends only after
 * the rest of the body is drained. Closing the connection earlier would reset it, and the client could lose the
 * response (RFC 9112 section 9.6).
 */
async function* respondWhileSending(
  response: string,
  request: IncomingMessage,
  timeouts: StreamTimeouts,
): AsyncGenerator<string> {
  yield response;
  await drainBody(request, timeouts);
}

/** Reads and discards the rest of a body. Closes the connection after `drainMs` or MAX_DRAINED_BYTES. */
function drainBody(request: IncomingMessage, { drainMs }: StreamTimeouts): Promise<void> {
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve();
    const cut = (): void => void request.destroy();
    const timer = setTimeout(cut, drainMs);
    let left = MAX_DRAINED_BYTES;
    request.on('data', (chunk: Buffer) => {
      left -= Math.max(chunk.length, DRAINED_BYTES_PER_CHUNK);
      if (left < 0) cut();
    });
    request.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    request.resume();
  });
}

/**
 * Watches a body with a file of at most `maxBytes`. Calls `stop` with the reason if the body is too large or too slow,
 * or takes too long. A period in which the server paused reading does not count as slow. Returns a function that stops
 * watching.
 */
export function guardBody(
  request: IncomingMessage,
  { periodMs, minBytes, totalMs, maxBytes }: StreamTimeouts & { maxBytes: number },
  stop: (reason: AppError) => void,
): () => void {
  const maxBodyBytes = maxBytes + EXTRA_BYTES;
  const startedAt = performance.now();
  let total = 0;
  let inPeriod = 0;
  let wasPaused = false;
  const count = (chunk: Buffer): void => {
    countBodyBytes(chunk.length);
    total += chunk.length;
    inPeriod += chunk.length;
    if (total > maxBodyBytes) stop(new AppError('PAYLOAD_TOO_LARGE', 'Request body is too large'));
  };
  const onPause = (): void => {
    wasPaused = true;
  };
  const timer = setInterval(() => {
    const isSlow = inPeriod < minBytes && !wasPaused;
    const isLate = performance.now() - startedAt > totalMs;
    if (!request.complete && (isSlow || isLate))
      stop(new AppError('REQUEST_TIMEOUT', 'The request body arrived too slowly'));
    inPeriod = 0;
    wasPaused = request.isPaused();
  }, periodMs);
  request.on('data', count);
  request.on('pause', onPause);
  // A body with a Content-Length that is too large is rejected immediately.
  if (Number(request.headers['content-length']) > maxBodyBytes) stop(fileTooLarge(maxBytes));
  return () => {
    clearInterval(timer);
    request.off('data', count);
    request.off('pause', onPause);
  };
}

/** Starts to read a body as a stream. The stream fails with 408 if the body is too slow. Without `maxBytes`, its reader
 * limits its length. */
export function openByteStream(
  request: IncomingMessage,
  limits: StreamTimeouts & { maxBytes?: number },
): OpenBody<Readable> {
  // A separate stream, because the request itself must stay open for the response if the reader stops early.
  const bytes = new PassThrough();
  const stop = (reason: AppError): void => {
    request.unpipe(bytes);
    bytes.destroy(reason);
  };
  // Ignores errors after the reader has stopped.
  bytes.on('error', () => {});
  bytes.on('close', () => request.unpipe(bytes));
  pipeBody(request, bytes, stop);
  const endWatch = guardBody(request, { maxBytes: Number.POSITIVE_INFINITY, ...limits }, stop);
  return {
    body: bytes,
    fail: (error) => error,
    close() {
      endWatch();
      bytes.destroy();
    },
  };
}

/** Pipes a body into `sink` and then ends `sink`. Calls `stop` if the client disconnects before the end of the body. */
export function pipeBody(request: IncomingMessage, sink: Writable, stop: (reason: AppError) => void): void {
  const onAborted = (): void => {
    if (!request.complete) {
      stop(badRequest('The request was cut off'));
      return;
    }
    // The client closed the connection after the last byte. The body is complete, but its end is still in the buffer.
    request.unpipe(sink);
    for (let rest = request.read(); rest !== null; rest = request.read()) sink.write(rest);
    sink.end();
  };
  // Ignores the 'error' event that follows 'aborted'.
  request.on('aborted', onAborted).on('error', () => {});
  if (request.destroyed) onAborted();
  else request.pipe(sink);
}
