/** A service of version 0.2, whose lists have `next_cursor: null` on their last page. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type NullCursors = { url: string; close(): void };

/** Passes requests on to the service at `target`, and adds `next_cursor: null` to tRPC's responses without a cursor. */
export async function startNullCursors(target: string): Promise<NullCursors> {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const body = method === 'GET' ? null : await buffer(request);
    const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
    const answer = await fetch(`${target}${url}`, { method, headers: { authorization, 'content-type': type }, body });
    const text = await answer.text();
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(text.includes('next_cursor') ? text : text.replaceAll('"data":{', '"data":{"next_cursor":null,'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
