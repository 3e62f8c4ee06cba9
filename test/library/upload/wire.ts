/** Multipart bodies byte by byte, and connections that a test can close at any point. */
import { once } from 'node:events';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Answer as HttpAnswer } from '../../support/http.ts';
import { checkAnswer } from '../../support/openapi-check.ts';

export const BOUNDARY = 'test-boundary-7d1a9f';
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;
export const LIMIT = 104_857_600;

const MIB = 1024 * 1024;

export type FilePart = {
  bytes?: Buffer | string;
  name?: string;
  /** null omits the filename. */
  filename?: string | null;
  /** null omits the Content-Type. */
  type?: string | null;
  /** Replaces the whole Content-Disposition. */
  disposition?: string;
};

/** The headers of a part. */
export function partHead({
  name = 'file',
  type = 'application/pdf',
  filename = type === 'video/mp4' ? 'a.mp4' : 'a.pdf',
  disposition,
}: FilePart) {
  const named = `form-data; name="${name}"${filename === null ? '' : `; filename="${filename}"`}`;
  const lines = [`--${BOUNDARY}`, `Content-Disposition: ${disposition ?? named}`];
  if (type !== null) lines.push(`Content-Type: ${type}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

export function filePart(part: FilePart = {}): Buffer {
  return Buffer.concat([partHead(part), Buffer.from(part.bytes ?? '%PDF-1.7\n'), Buffer.from('\r\n')]);
}

export function fieldPart(name: string, value: string): Buffer {
  return filePart({ name, bytes: value, filename: null, type: null });
}

export const END = Buffer.from(`--${BOUNDARY}--\r\n`);

/** A complete body. */
export function multipart(...parts: Buffer[]): Buffer {
  return Buffer.concat([...parts, END]);
}

/** `size` bytes that start like a PDF, in blocks that differ. */
export function* pdfBytes(size: number): Generator<Buffer> {
  for (let made = 0; made < size; made += MIB) {
    const block = Buffer.alloc(Math.min(MIB, size - made), 0x20 + ((made / MIB) % 90));
    block.write(made === 0 ? '%PDF-1.7\n' : String(made));
    yield block;
  }
}

/** A complete body with a file of `size` bytes, in blocks. */
export function* largeBody(size: number): Generator<Buffer> {
  yield partHead({});
  yield* pdfBytes(size);
  yield Buffer.from('\r\n');
  yield END;
}

export type Answer = { status: number; headers: http.IncomingHttpHeaders; body: HttpAnswer['body'] };

export type SendOptions = {
  token?: string | undefined;
  contentType?: string | null;
  /** The Content-Length. Without it the body is chunked. */
  length?: number;
  headers?: Record<string, string>;
  agent?: http.Agent | false;
};

/** Posts a body over a new connection, and stops sending when the answer arrives. */
export async function send(
  url: string,
  body: Iterable<Buffer> | AsyncIterable<Buffer>,
  { token, contentType = MULTIPART, length, headers, agent = false }: SendOptions = {},
): Promise<Answer> {
  const request = http.request(url, {
    method: 'POST',
    agent,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(contentType !== null && { 'content-type': contentType }),
      ...(length !== undefined && { 'content-length': length }),
      ...headers,
    },
  });
  const closed = new Promise((resolve) => request.once('close', resolve));
  const sending = (async () => {
    for await (const chunk of body) {
      if (request.destroyed) return;
      if (!request.write(chunk)) await Promise.race([once(request, 'drain').catch(() => {}), closed]);
    }
    request.end();
  })();
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    // An error after the answer only means that the connection was closed, and the promise is already settled.
    request.on('error', reject);
    sending.catch(reject);
  });
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  const answer = { status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) };
  checkAnswer('POST', new URL(url).pathname, { status: answer.status, body: answer.body });
  return answer;
}

/** Opens a connection and sends the headers of an upload. `framing` is a Content-Length or Transfer-Encoding line. */
export async function openUpload(url: string, token: string | undefined, framing: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  const lines = [`POST ${pathname} HTTP/1.1`, `Host: ${hostname}`, `Content-Type: ${MULTIPART}`, framing];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** Writes bytes to the socket. Resolves with false if the connection is closed. */
export function writeAll(socket: Socket, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => socket.write(bytes, (error) => resolve(!error)));
}

/** Reads everything that the server sends until the connection is closed. */
export function readUntilClosed(socket: Socket): Promise<string> {
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  return new Promise((resolve) => socket.once('close', () => resolve(received)));
}

/** Parses the text of one answer. */
export function parseAnswer(text: string): { status: number; body: HttpAnswer['body'] } {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
}

/** Sends an endless file without reading, until the server closes the connection. Resolves with the answer. */
export async function sendEndless(url: string, token: string | undefined, connection: 'close' | 'keep-alive') {
  const socket = await openUpload(url, token, `Transfer-Encoding: chunked\r\nConnection: ${connection}`);
  const response = readUntilClosed(socket);
  const frame = (bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  for (const bytes of largeBody(Number.POSITIVE_INFINITY)) if (!(await writeAll(socket, frame(bytes)))) break;
  return parseAnswer(await response);
}
