/** Receivers of webhooks on this machine, for tests: well-behaved, slow, broken and hostile. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export type ReceivedRequest = {
  method: string;
  /** Path and query. */
  target: string;
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  body: Buffer;
  at: Date;
};

/** Responds to a request. `index` is 0 for the first request, 1 for the second, and so on. */
export type Handler = (request: ReceivedRequest, response: ServerResponse, index: number) => void;

export type Receiver = {
  /** Without a path: `http://127.0.0.1:<port>`. */
  url: string;
  port: number;
  /** The requests so far, in the order in which their bodies ended. */
  requests: ReceivedRequest[];
  /** All connections so far, including closed ones. */
  connections: Socket[];
  /** Resolves with all requests as soon as there are `count`. Rejects after a minute. */
  waitFor(count: number): Promise<ReceivedRequest[]>;
  /** Handles further requests with this handler. */
  respondWith(handler: Handler): void;
  /** Closes all connections. Later ones are refused. */
  close(): Promise<void>;
};

export type ReceiverOptions = {
  /** In PEM format. With it the receiver uses TLS. */
  tls?: { key: string | Buffer; cert: string | Buffer };
  /** 0, the default: a free port. */
  port?: number;
  host?: string;
};

/** Ends a test that hangs. It is longer than any test takes on a busy machine. */
const TIMEOUT_MS = 60_000;
const POLL_EVERY_MS = 5;

/** Responds with 200 and an empty body. */
export const accept: Handler = (_request, response) => {
  response.end();
};

/** Returns a handler that responds with a status, a body and headers. */
export function respond(
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string | string[]> = {},
): Handler {
  return (_request, response) => {
    response.writeHead(status, headers).end(body);
  };
}

async function listen(server: Server, { port = 0, host = '127.0.0.1' }: ReceiverOptions) {
  const connections: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    connections.push(socket);
    // A connection that the sender closes is not an error of the test.
    socket.on('error', () => {});
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    // The cast: the address of a server that listens on TCP is an object.
    port: (server.address() as AddressInfo).port,
    connections,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

/** Starts an HTTP receiver on a free port of 127.0.0.1. It records all requests, and responds with 200 by default. */
export async function startReceiver(handler: Handler = accept, options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  let handle = handler;
  const onRequest: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: target = '', headers } = incoming;
      const request = { method, target, headers, body: Buffer.concat(chunks), at: new Date() };
      requests.push(request);
      handle(request, response, requests.length - 1);
    });
  };
  const server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest);
  const { port, connections, close } = await listen(server, options);
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    connections,
    async waitFor(count) {
      const deadline = Date.now() + TIMEOUT_MS;
      while (requests.length < count) {
        if (Date.now() > deadline) throw new Error(`Only ${requests.length} of ${count} requests arrived`);
        await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
      }
      return requests;
    },
    respondWith(next) {
      handle = next;
    },
    close,
  };
}

export type RawReceiver = { url: string; port: number; connections: Socket[]; close(): Promise<void> };

/** Starts a TCP server that calls `onConnection` for each connection, to send what no HTTP server would send. */
export async function startRawReceiver(onConnection: (socket: Socket) => void): Promise<RawReceiver> {
  const { port, connections, close } = await listen(createTcpServer(onConnection), {});
  return { url: `http://127.0.0.1:${port}`, port, connections, close };
}

/** Returns a URL where nothing listens. */
export async function closedUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}
