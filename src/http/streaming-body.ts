/** Bodies that stream: read as fast as they are worked off, and bounded in size, slowness and time. */
import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { AppError, badRequest } from '../core/errors.ts';
import { HOUR_MS, SECOND_MS } from '../core/time.ts';
import { fileTooLarge } from '../media/receive-file.ts';
import { noteBodyBytes } from './minor-gc.ts';

/** A body may be larger than its file by its other parts. */
const MORE_BYTES = 8 * 1024 * 1024;
/** Of a refused body so much is read over at most, whatever it may have had. */
const MAX_DRAINED_BYTES = 108 * 1024 * 1024;

export type StreamTimeouts = {
  /** Less than `minBytes` in a whole period, while we were ready to read, is no upload but an attack. */
  periodMs: number;
  minBytes: number;
  /** The longest that a body may take. The sweep relies on it: what is older than a day is no upload under way. */
  wholeMs: number;
  /** How long a refused body is still read, so that the client hears the answer instead of a reset. */
  drainMs: number;
};

/** 1 kB/s, which the slowest links manage; judged over half a minute, which they may well be silent for. */
export const defaultTimeouts: StreamTimeouts = {
  periodMs: 30 * SECOND_MS,
  minBytes: 30_000,
  wholeMs: 12 * HOUR_MS,
  drainMs: 10 * SECOND_MS,
};

/**
 * Watches a body that is being read, for a file of at most `maxBytes`, and calls `refuse` when it is too large, too
 * slow or too long under way. Waiting for a slow store is not the client's fault. Returns how to end the watch.
 */
export function guardBody(
  request: IncomingMessage,
  { periodMs, minBytes, wholeMs, maxBytes }: StreamTimeouts & { maxBytes: number },
  refuse: (reason: AppError) => void,
): () => void {
  const maxBodyBytes = maxBytes + MORE_BYTES;
  const startedAt = performance.now();
  let total = 0;
  let inPeriod = 0;
  let wasPaused = false;
  const count = (chunk: Buffer): void => {
    noteBodyBytes(chunk.length);
    total += chunk.length;
    inPeriod += chunk.length;
    if (total > maxBodyBytes) refuse(new AppError('PAYLOAD_TOO_LARGE', 'Request body is too large'));
  };
  const notePause = (): void => {
    wasPaused = true;
  };
  const timer = setInterval(() => {
    const isSlow = inPeriod < minBytes && !wasPaused;
    const isLong = performance.now() - startedAt > wholeMs;
    if (!request.complete && (isSlow || isLong))
      refuse(new AppError('REQUEST_TIMEOUT', 'The request body is too slow'));
    inPeriod = 0;
    wasPaused = request.isPaused();
  }, periodMs);
  request.on('data', count);
  request.on('pause', notePause);
  // No need to read 100 MB to learn what the client has said already.
  if (Number(request.headers['content-length']) > maxBodyBytes) refuse(fileTooLarge(maxBytes));
  return () => {
    clearInterval(timer);
    request.off('data', count);
    request.off('pause', notePause);
  };
}

/** Makes a plugin context ready for bodies that stream. Its own one, because here a body of any type is left unread. */
export function leaveBodiesUnread(app: FastifyInstance, timeouts: StreamTimeouts): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onSend', async ({ raw }, reply, payload) => {
    // What a refusal left unread would block the next request of the connection.
    raw.resume();
    if (raw.complete || typeof payload !== 'string') return payload;
    reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(payload) });
    return Readable.from(answerWhileSending(payload, raw, timeouts));
  });
}

/**
 * An answer to a client that is still sending. All of it leaves at once, but it ends when the rest of the body was read
 * over: a connection that is closed before that is reset, and the answer may get lost (RFC 9112 section 9.6).
 */
async function* answerWhileSending(
  answer: string,
  request: IncomingMessage,
  timeouts: StreamTimeouts,
): AsyncGenerator<string> {
  yield answer;
  await drainBody(request, timeouts);
}

/** Reads over the rest of a refused body, for a while and up to a size; then cuts the connection. */
function drainBody(request: IncomingMessage, { drainMs }: StreamTimeouts): Promise<void> {
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve();
    const cut = (): void => void request.destroy();
    const timer = setTimeout(cut, drainMs);
    let left = MAX_DRAINED_BYTES;
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) cut();
    });
    request.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    request.resume();
  });
}

/** Has `sink` take in a body, no faster than it can, and end with it. `refuse` hears of a body that breaks off. */
export function pipeBody(request: IncomingMessage, sink: Writable, refuse: (reason: AppError) => void): void {
  const endEarly = (): void => {
    if (!request.complete) {
      refuse(badRequest('The request was cut off'));
      return;
    }
    // The client hung up after its last byte: its body is whole, and what we have not read yet is in the buffer.
    request.unpipe(sink);
    for (let rest = request.read(); rest !== null; rest = request.read()) sink.write(rest);
    sink.end();
  };
  // An error comes after 'aborted', and says no more.
  request.on('aborted', endEarly).on('error', () => {});
  if (request.destroyed) endEarly();
  else request.pipe(sink);
}
