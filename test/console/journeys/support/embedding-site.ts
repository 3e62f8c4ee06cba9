/** A site of another origin than the service, with the example of embedding. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { root } from '../../../client/packed-client.ts';

export type EmbeddingSite = { origin: string; close(): Promise<void> };

/** The example loads the script of the service at `url`. */
export async function startEmbeddingSite(url: string): Promise<EmbeddingSite> {
  const example = await readFile(join(root, 'examples/embed/index.html'), 'utf8');
  return startPage(example.replace('http://localhost:3000', url));
}

/** Serves a page at every path of an origin of its own. */
export async function startPage(page: string): Promise<EmbeddingSite> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: it listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
