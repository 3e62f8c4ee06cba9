/** Receivers of webhooks on this machine, as tests need them: well-behaved, slow, broken and hostile. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';

export type ReceivedRequest = {
  method: string;
  /** Path and query. */
  target: string;
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  body: Buffer;
  at: Date;
};

/** Answers one request; `index` counts them from 0. */
export type Handler = (request: ReceivedRequest, response: ServerResponse, index: number) => void;

export type Receiver = {
  /** Without a path: `http://127.0.0.1:<port>`. */
  url: string;
  port: number;
  /** In the order in which their bodies ended. */
  requests: ReceivedRequest[];
  /** All connections so far, closed ones too. */
  connections: Socket[];
  /** Resolves when `count` requests have come; rejects after 10 s. */
  waitFor(count: number): Promise<ReceivedRequest[]>;
  /** From now on requests are answered so. */
  respondWith(handler: Handler): void;
  /** Breaks off all connections. Later ones are refused. */
  close(): Promise<void>;
};

export type ReceiverOptions = {
  /** PEM; with it the receiver speaks TLS. */
  tls?: { key: string | Buffer; cert: string | Buffer };
  /** 0: any free one. */
  port?: number;
  host?: string;
};

const TIMEOUT_MS = 10_000;
const LOOK_EVERY_MS = 5;

/** Answers 200 with an empty body. */
export const accept: Handler = (_request, response) => {
  response.end();
};

/** A handler that answers with a status, headers and a body. */
export function answer(
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
    // What the sender breaks off is no failure of a test.
    socket.on('error', () => {});
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    // A server that listens on TCP has such an address.
    port: (server.address() as AddressInfo).port,
    connections,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

/** Starts an HTTP receiver on a free port of 127.0.0.1. It records all requests, and answers 200 where no handler is given. */
export async function startReceiver(handler: Handler = accept, options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  let respond = handler;
  const onRequest: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: target = '', headers } = incoming;
      const request = { method, target, headers, body: Buffer.concat(chunks), at: new Date() };
      requests.push(request);
      respond(request, response, requests.length - 1);
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
        if (Date.now() > deadline) throw new Error(`${requests.length} of ${count} requests came`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
      return requests;
    },
    respondWith(next) {
      respond = next;
    },
    close,
  };
}

export type RawReceiver = { url: string; port: number; connections: Socket[]; close(): Promise<void> };

/** Starts a TCP server that treats each connection as `onConnection` does; for what no HTTP server would send. */
export async function startRawReceiver(onConnection: (socket: Socket) => void): Promise<RawReceiver> {
  const { port, connections, close } = await listen(createTcpServer(onConnection), {});
  return { url: `http://127.0.0.1:${port}`, port, connections, close };
}

/** A URL where nothing listens. */
export async function closedUrl(): Promise<string> {
  const { url, close } = await startRawReceiver(() => {});
  await close();
  return url;
}
