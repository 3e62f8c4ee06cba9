/** HTTP calls from other addresses of this machine, and with headers that `fetch` does not send. */
import { type IncomingHttpHeaders, request } from 'node:http';

export type CallFrom = {
  method?: string;
  /** A loopback address, such as 127.0.0.2. */
  localAddress?: string;
  headers?: Record<string, string>;
  json?: unknown;
};

/** Resolves with the answer. Its body must be JSON. */
export function callFrom(
  url: string,
  { method = 'GET', localAddress = '127.0.0.1', headers = {}, json }: CallFrom = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: unknown }> {
  const body = json === undefined ? '' : JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method, localAddress, headers: { ...(body !== '' && { 'content-type': 'application/json' }), ...headers } },
      async (response) => {
        const chunks = await response.toArray();
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
