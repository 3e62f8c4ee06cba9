/** Verifies webhook requests. Uses Web Crypto only, so it runs in Node, browsers and edge runtimes. */
import type { WebhookBody } from './contract.ts';

/** How old or how far in the future a message may be, in seconds. */
const TOLERANCE_SECONDS = 5 * 60;

type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A webhook request that this service did not send, or sent too long ago. Answer it with 401. */
export class WebhookVerificationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
  }
}

/**
 * Verifies a request and returns its parsed body. `body` is the request's body exactly as received, `secret` the
 * webhook's secret. Rejects with WebhookVerificationError if the signature is wrong, or if the message is more than
 * five minutes old, as a replayed one may be.
 *
 * The signature is that of Standard Webhooks (https://www.standardwebhooks.com). During the 24 hours after a rotation,
 * messages are signed with both secrets, so either verifies them.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<WebhookBody> {
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= TOLERANCE_SECONDS)) throw new WebhookVerificationError('The message is too old or from the future');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const key = await importKey(secret);
  for (const signature of signatures.split(' ')) {
    const [version, encoded = ''] = signature.split(',', 2);
    // `verify` takes the same time wherever the signatures differ.
    const isValid = version === 'v1' && (await crypto.subtle.verify('HMAC', key, decodeBase64(encoded), signed));
    // `as`: the service has signed the body, so it is one of its messages.
    if (isValid) return JSON.parse(new TextDecoder().decode(bytes)) as WebhookBody;
  }
  throw new WebhookVerificationError('No signature of the message is valid');
}

function readHeader(headers: WebhookHeaders, name: string): string {
  // Not `instanceof`: some runtimes and tests have more than one `Headers`.
  const value = isHeaders(headers) ? headers.get(name) : headers[name];
  if (typeof value !== 'string') throw new WebhookVerificationError(`The header ${name} is missing`);
  return value;
}

function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function';
}

function importKey(secret: string) {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''));
  if (bytes.length === 0) throw new TypeError('The secret must be whsec_ followed by base64');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Returns no bytes for a string that is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}
