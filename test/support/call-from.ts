/** HTTP calls from other addresses of this machine, and with headers that `fetch` does not send. */
import { request } from 'node:http';

export type CallFrom = {
  method?: string;
  /** A loopback address, such as 127.0.0.2. */
  localAddress?: string;
  headers?: Record<string, string>;
  json?: unknown;
};

/** Resolves with the status and the body, which must be JSON. */
export function callFrom(
  url: string,
  { method = 'GET', localAddress = '127.0.0.1', headers = {}, json }: CallFrom = {},
): Promise<{ status: number; body: unknown }> {
  const body = json === undefined ? '' : JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method, localAddress, headers: { ...(body !== '' && { 'content-type': 'application/json' }), ...headers } },
      async (response) => {
        const chunks = await response.toArray();
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
