import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../core/log.ts';
import type { Metrics } from './metrics.ts';

export type MetricsServer = {
  port: number;
  /** Stops listening, and resolves when the scrape in progress has ended. */
  close(): Promise<void>;
};

/** Must be longer than a scrape takes. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Serves `/metrics` over plain HTTP on a separate port, so that no proxy forwards it by accident. */
export async function serveMetrics(
  metrics: Pick<Metrics, 'scrape' | 'contentType'>,
  { host, port, log }: { host: string; port: number; log: Log },
): Promise<MetricsServer> {
  const onRequest: RequestListener = (request, response) => {
    // So that no idle connection keeps the server from closing.
    response.setHeader('connection', 'close');
    const [path] = (request.url ?? '').split('?');
    if (path !== '/metrics') return response.writeHead(404).end();
    if (request.method !== 'GET') return response.writeHead(405, { allow: 'GET' }).end();
    metrics.scrape().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'A scrape failed');
        response.writeHead(500).end();
      },
    );
  };
  const server = createServer(onRequest);
  server.listen(port, host);
  await once(server, 'listening');
  // `as`: the address of a server that listens on TCP is an object.
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    port: actualPort,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
