/**
 * Sends HTTP requests over kept connections and measures their latency. It parses only what it needs, so that it leaves
 * the CPU, which it shares with PostgreSQL, to PostgreSQL.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type Call = { method: string; path: string; token?: string | undefined; json?: unknown };
export type Answer = { status: number; body: string };
/** `done` requests in `seconds`. `latencies` are in milliseconds. `failure` is the first failed answer. */
export type Load = { done: number; failed: number; seconds: number; latencies: number[]; failure: string | null };

export type Connection = { send(call: Call): Promise<Answer>; close(): void };

/** Opens a connection that sends one request at a time. */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  await once(socket, 'connect');
  const read = readAnswers(socket);
  return {
    send(call) {
      const answer = read();
      socket.write(toBytes(call, host));
      return answer;
    },
    close: () => socket.destroy(),
  };
}

/**
 * Sends the calls of `next` over each connection, one after another, until the time is over or `next` returns null.
 * `next` gets the number of the connection.
 */
export async function sendLoad(
  url: string,
  connections: number,
  seconds: number,
  next: (connection: number) => Call | null,
): Promise<Load> {
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(url)));
  const load: Load = { done: 0, failed: 0, seconds: 0, latencies: [], failure: null };
  const start = performance.now();
  const end = start + seconds * 1000;
  await Promise.all(
    opened.map(async ({ send }, index) => {
      for (let sentAt = start; sentAt < end; ) {
        const call = next(index);
        if (call === null) return;
        const { status, body } = await send(call);
        const now = performance.now();
        load.latencies.push(now - sentAt);
        load.done += 1;
        if (status >= 300) {
          load.failed += 1;
          load.failure ??= `${call.method} ${call.path}: ${status} ${body.slice(0, 300)}`;
        }
        sentAt = now;
      }
    }),
  );
  load.seconds = (performance.now() - start) / 1000;
  for (const { close } of opened) close();
  return load;
}

function toBytes({ method, path, token, json }: Call, host: string): string {
  const body = json === undefined ? '' : JSON.stringify(json);
  const credential = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
  const content = json === undefined ? '' : 'content-type: application/json\r\n';
  const length = json === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${credential}${content}${length}\r\n${body}`;
}

/** Returns a function that resolves with the next answer of the socket. */
function readAnswers(socket: Socket): () => Promise<Answer> {
  let waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  let chunks: Buffer[] = [];
  let size = 0;
  let needed = 0;
  const settle = (): void => {
    const bytes = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
    const answer = parseAnswer(bytes);
    if (typeof answer === 'number') {
      chunks = [bytes];
      needed = answer;
      return;
    }
    chunks = [];
    size = 0;
    needed = 0;
    waiting?.resolve(answer);
    waiting = undefined;
  };
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= needed) settle();
  });
  const fail = (error?: Error): void => {
    waiting?.reject(error ?? new Error('The server closed the connection'));
    waiting = undefined;
  };
  socket.on('error', fail);
  socket.on('close', () => fail());
  return () =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
}

const HEAD_END = Buffer.from('\r\n\r\n');
// With the end of the chunk before it, because a chunk may end with 0 and a line break.
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/** Returns the answer, or how many bytes it has at least if it is not complete. */
function parseAnswer(bytes: Buffer): Answer | number {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return bytes.length + 1;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(head.slice(9, 12));
  const start = headEnd + HEAD_END.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const end = start + Number(length);
    return bytes.length < end ? end : { status, body: bytes.toString('utf8', start, end) };
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, body: '' };
  const isComplete = bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  return isComplete ? { status, body: joinChunks(bytes.subarray(start)) } : bytes.length + 1;
}

function joinChunks(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(parts).toString('utf8');
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}
