/** Sends live updates as Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { toProblem } from '../core/problem.ts';
import { SECOND_MS } from '../core/time.ts';
import { STREAM_OVER, type StreamEnd } from '../live-updates/open-streams.ts';
import type { LiveStream, StreamMessage } from '../live-updates/stream-message.ts';
import type { Services } from '../services.ts';
import { fromUnexpected } from '../trpc/errors.ts';
import { logFailure } from './log-failure.ts';
import { observeCallsOf } from './observe-calls.ts';

/** The format in which a transport writes a stream. */
export type StreamFormat = {
  opening: string;
  ping: string;
  toFrame(message: StreamMessage): string;
  /** Returns the last message that is sent to a reader who cannot, or is not allowed to, continue. */
  toClosing(error: AppError): string;
};

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Prevents nginx from buffering the events.
  'x-accel-buffering': 'no',
  // The server does not have to wait for the connection when it shuts down.
  connection: 'close',
};

const PING_EVERY_MS = 15 * SECOND_MS;
/** The minimum and the maximum time, in milliseconds, that readers wait before they reconnect. */
const RETRY_MS = [500, 3_000] as const;

const streaming = new WeakSet<FastifyRequest>();

/** Whether the response is a stream. A stream is logged when it ends. */
export function isStreaming(request: FastifyRequest): boolean {
  return streaming.has(request);
}

/** Sends the messages until the stream ends or the reader hangs up, and then closes the stream. */
export function sendEventStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { live }: Pick<Services, 'live'>,
  { messages, stream }: LiveStream,
  format: StreamFormat,
): FastifyReply {
  streaming.add(request);
  observeCallsOf(request);
  reply.headers(streamHeaders);
  const { raw: response } = reply;
  for (const [name, value = ''] of Object.entries(reply.getHeaders())) response.setHeader(name, value);
  reply.hijack();
  const startedAt = performance.now();
  let sent = 0;

  const send = async (): Promise<StreamEnd> => {
    try {
      for await (const message of messages) {
        sent += 1;
        live.countSent();
        if (!response.write(format.toFrame(message))) await untilDrained(response, stream.signal);
      }
      return STREAM_OVER;
    } catch (error) {
      if (stream.signal.aborted) return stream.signal.reason;
      return error instanceof AppError ? error : fromUnexpected(error);
    }
  };

  response.writeHead(200);
  response.write(`retry: ${chooseRetry()}\n\n${format.opening}`);
  const stopPings = pingReader(response, format.ping);
  void send().then((end) => {
    stopPings();
    stream.close();
    if (end instanceof AppError) logFailure(request.log, end);
    endResponse(response, end instanceof AppError ? format.toClosing(end) : '');
    const { method, routeOptions, ip } = request;
    const details = { method, route: routeOptions.url ?? null, status: 200, ip, events: sent };
    const code = end instanceof AppError ? { code: end.code } : {};
    request.log.info({ ...details, ...code, ms: Math.round(performance.now() - startedAt) }, 'request');
  });
  return reply;
}

/** Random, so that the readers do not all reconnect at the same moment when a server shuts down. */
function chooseRetry(): number {
  const [min, max] = RETRY_MS;
  return Math.round(min + Math.random() * (max - min));
}

/**
 * Sends pings, and disconnects a reader who has read nothing between two of them. Returns a function that stops the
 * pings.
 */
function pingReader(response: ServerResponse, ping: string): () => void {
  let wasBlocked = false;
  const timer = setInterval(() => {
    const isBlocked = response.writableNeedDrain;
    if (!isBlocked) response.write(ping);
    else if (wasBlocked) response.destroy();
    wasBlocked = isBlocked;
  }, PING_EVERY_MS);
  return () => clearInterval(timer);
}

/** Resolves when the reader has received everything that was written. Rejects when the stream ends. */
function untilDrained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      response.off('drain', onDrain);
      reject(signal.reason);
    };
    const onDrain = (): void => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
    response.once('drain', onDrain);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** Ends the response. Destroys it if the reader has stopped reading, because such a response would never end. */
function endResponse(response: ServerResponse, closing: string): void {
  if (response.writableNeedDrain) response.destroy();
  else response.end(closing);
}

/** The format of `GET .../stream`: each message has the type of the event as its SSE event name. */
export function plainFormat(requestId: string): StreamFormat {
  return {
    opening: '',
    ping: ': ping\n\n',
    toFrame: toPlainFrame,
    toClosing: (error) => `event: stream.closed\ndata: ${JSON.stringify(toProblem(error, requestId))}\n\n`,
  };
}

const plainFrames = new WeakMap<StreamMessage, string>();

/** Each message is formatted only once for all readers. */
function toPlainFrame(message: StreamMessage): string {
  const known = plainFrames.get(message);
  if (known !== undefined) return known;
  const { id, event, body } = message;
  const frame = `${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${body}\n\n`;
  plainFrames.set(message, frame);
  return frame;
}
