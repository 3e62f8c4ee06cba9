/** Responds with the usual error body to requests that Node's HTTP parser rejects before they reach Fastify. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { httpStatusOf, toProblem } from '../core/problem.ts';

/** The response for each of Node's error codes. All other codes mean that the request is malformed. */
const refusals: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'Request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request arrived too slowly'],
};

/** The `clientErrorHandler` of Fastify. Sends the response and closes the connection. */
export function refuseMalformedRequest(error: Error & { code?: string }, socket: Socket, log: FastifyBaseLogger): void {
  // The client has disconnected, or the connection is already closing.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const refusal = new AppError(...(refusals[error.code ?? ''] ?? (['BAD_REQUEST', 'Malformed request'] as const)));
  const requestId = randomUUID();
  const status = httpStatusOf(refusal);
  const body = JSON.stringify(toProblem(refusal, requestId));
  log.info({ reqId: requestId, status, reason: error.code }, 'Malformed request');
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `x-request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
