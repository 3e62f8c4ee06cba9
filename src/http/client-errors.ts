/** Responds with the usual error body to requests that Node's HTTP parser or `bounded-request.ts` rejects. */
import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { headersOf, httpStatusOf, toProblem } from '../core/problem.ts';
import { TINY_CHUNKS, TINY_CHUNKS_TEXT } from './bounded-request.ts';

/** The response for each of Node's error codes. All other codes mean that the request is malformed. */
const refusals: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'Request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  [TINY_CHUNKS]: ['BAD_REQUEST', TINY_CHUNKS_TEXT],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request arrived too slowly'],
};

/** What a connection has served. A client may send a request before it has the response to the last one. */
type Served = {
  /** The responses that are not complete. */
  open: Set<ServerResponse>;
  /** The response to the request that came last, unless both are complete. */
  last: ServerResponse | null;
};

/** How long a client has to read the response before its connection is closed. */
const LINGER_MS = 1_000;

const connections = new WeakMap<Socket, Served>();
const refused = new WeakSet<Socket>();

/** Call this before the server listens, so that `refuseMalformedRequest` knows what each connection has served. */
export function trackResponses(server: Server): void {
  server.on('request', ({ socket }, response) => {
    const served = connections.get(socket) ?? { open: new Set(), last: null };
    connections.set(socket, served);
    served.open.add(response);
    served.last = response;
    response.once('close', () => {
      served.open.delete(response);
      if (served.last === response && response.req.complete) served.last = null;
    });
  });
}

/**
 * The `clientErrorHandler` of Fastify. Sends the response after those to earlier requests on the connection, and closes
 * the connection. If the malformed request already has a response, only closes the connection.
 */
export function refuseMalformedRequest(error: Error & { code?: string }, socket: Socket, log: FastifyBaseLogger): void {
  // What follows on the connection is malformed too.
  if (refused.has(socket)) return;
  refused.add(socket);
  const { open, last } = connections.get(socket) ?? { open: new Set<ServerResponse>(), last: null };
  // Null if the error is in the head of a request.
  const own = last === null || last.req.complete ? null : last;
  // The client has disconnected, or the connection is already closing.
  if (error.code === 'ECONNRESET' || !socket.writable || own?.headersSent) {
    socket.destroy();
    return;
  }
  const refusal = new AppError(...(refusals[error.code ?? ''] ?? (['BAD_REQUEST', 'Malformed request'] as const)));
  const { requestId, text } = toRawResponse(refusal);
  log.info({ reqId: requestId, status: httpStatusOf(refusal), reason: error.code }, 'Malformed request');
  const earlier = [...open].filter((response) => response !== own);
  void Promise.all(earlier.map(untilClosed)).then(() => {
    socket.end(text);
    // A socket that is closed while data is unread is reset, and the client could lose the response.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}

function untilClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', resolve));
}

/** Returns an error response as bytes for a connection that is closed afterwards. */
export function toRawResponse(error: AppError): { requestId: string; text: string } {
  const requestId = randomUUID();
  const status = httpStatusOf(error);
  const body = JSON.stringify(toProblem(error, requestId));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(body),
    ...headersOf(error),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return { requestId, text: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}` };
}
