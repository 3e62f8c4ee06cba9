/** Sends a request again whose answer was lost, if that does nothing twice. */
import { sleep } from './abort.ts';

/** The server is slow, too busy or not there. The service has refused to carry the request out, or its key is known. */
const LOST_STATUSES: readonly number[] = [408, 429, 502, 503, 504];
const MAX_DELAY_MS = 8_000;
/** An answer that asks to wait longer is passed on instead. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Returns a `fetch` that sends reads, replacements, and writes with an idempotency key up to `times` times again if the
 * connection fails, also within the answer, or the answer says that the same request may succeed later. It waits as
 * long as `Retry-After` says, and otherwise 1, 2, 4 seconds, less up to half of it at random.
 */
export function repeatLost(fetch: typeof globalThis.fetch, times: number): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { signal } = init;
    for (let left = isRepeatable(init) ? times : 0; ; left -= 1) {
      let delay = Math.min(1_000 * 2 ** (times - left), MAX_DELAY_MS) * (0.5 + Math.random() / 2);
      try {
        const response = await fetch(input, init);
        if (left === 0) return response;
        const bytes = await response.arrayBuffer();
        const answer = new Response(bytes.byteLength === 0 ? null : bytes, response);
        const asked = retryAfterMs(response.headers);
        if (!isLost(response.status, bytes) || asked > MAX_RETRY_AFTER_MS) return answer;
        delay = Math.max(delay, asked);
      } catch (error) {
        if (left === 0 || signal?.aborted) throw error;
      }
      await sleep(delay, signal);
    }
  };
}

/** A stream can be read only once. */
function isRepeatable({ method = 'GET', headers, body }: RequestInit): boolean {
  if (body instanceof ReadableStream) return false;
  return ['GET', 'HEAD', 'PUT'].includes(method) || new Headers(headers).has('idempotency-key');
}

function isLost(status: number, body: ArrayBuffer): boolean {
  // The first request with the key is still being carried out.
  return (
    LOST_STATUSES.includes(status) ||
    (status === 409 && new TextDecoder().decode(body).includes('"IDEMPOTENCY_KEY_IN_USE"'))
  );
}

/** `Retry-After` is a number of seconds or a time. */
function retryAfterMs(headers: Headers): number {
  const text = headers.get('retry-after') ?? '0';
  const ms = Number.isNaN(Number(text)) ? Date.parse(text) - Date.now() : Number(text) * 1_000;
  return ms > 0 ? ms : 0;
}
