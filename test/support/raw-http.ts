/** Raw HTTP over a socket, for requests that HTTP clients refuse to send. */
import { connect } from 'node:net';

const TIMEOUT_MS = 10_000;

/**
 * Sends `bytes` and resolves with everything the server sends until it closes the connection. Several parts are sent
 * one after the other, each when the server has sent something. Rejects if it sends nothing for 10 s.
 */
export function exchange(url: string, bytes: string | Buffer | readonly string[]): Promise<string> {
  const [first = '', ...rest] = Array.isArray(bytes) ? bytes : [bytes];
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    const chunks: Buffer[] = [];
    socket.setTimeout(TIMEOUT_MS, () =>
      socket.destroy(new Error('The server neither answered nor closed the connection')),
    );
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      const next = rest.shift();
      if (next !== undefined) socket.write(next);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server that has answered and closed the connection may reset it while we are still sending.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(first);
  });
}

export type RawRequest = { method?: string; target?: string; headers?: Record<string, string>; body?: string | Buffer };

/** Sends one request. Adds `Host` and `Connection: close` unless the headers include them. */
export async function exchangeRequest(
  url: string,
  { method = 'GET', target = '/', headers = {}, body = '' }: RawRequest,
): Promise<{ status: number; head: string; body: string }> {
  const allHeaders = { host: new URL(url).host, connection: 'close', ...headers };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  const answer = await exchange(url, Buffer.concat([head, Buffer.from(body)]));
  const [answeredHead = '', ...rest] = answer.split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answeredHead)?.[1] ?? 0),
    head: answeredHead,
    body: rest.join('\r\n\r\n'),
  };
}
