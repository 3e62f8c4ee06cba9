/** The headers with which a receiver verifies that this service sent a request, in two formats. */
import { createHmac, type KeyObject } from 'node:crypto';
import { toUnixSeconds } from '../core/time.ts';
import type { SigningKey } from './signing-keys.ts';

export type SignedMessage = {
  /** The same on every attempt. */
  messageId: string;
  event: string;
  /** The time of the event as in the body: ISO 8601. */
  timestamp: string;
  attemptAt: Date;
  body: string;
  /** The key of the current secret, followed by that of the previous one during the overlap after a rotation. */
  keys: readonly SigningKey[];
};

/**
 * Returns the headers of one attempt. Signatures are computed over the exact bytes of the body in UTF-8:
 *
 * - `x-webhook-signature`: lower-case hex HMAC-SHA256 of the body, keyed with the whole secret, `whsec_` included;
 *   `x-webhook-signature-previous`: the same with the previous secret, if there is one. `x-webhook-timestamp` is the
 *   timestamp of the body.
 * - `webhook-signature`: one signature for each secret, as Standard Webhooks 1.0.0 defines it
 *   (https://www.standardwebhooks.com, "Signature scheme"), over `webhook-id`, `webhook-timestamp` (of this attempt, in
 *   Unix seconds) and the body.
 */
export function signedHeaders(message: SignedMessage): Record<string, string> {
  const { messageId, event, timestamp, attemptAt, body, keys } = message;
  const [current, previous] = keys;
  if (current === undefined) throw new Error('A message needs at least one key');
  const attemptSeconds = String(toUnixSeconds(attemptAt));
  const prefix = `${messageId}.${attemptSeconds}.`;
  return {
    'content-type': 'application/json',
    'x-webhook-event': event,
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': hexSignature(current.text, body),
    ...(previous !== undefined && { 'x-webhook-signature-previous': hexSignature(previous.text, body) }),
    'webhook-id': messageId,
    'webhook-timestamp': attemptSeconds,
    'webhook-signature': keys.map((key) => standardSignature(key.bytes, prefix + body)).join(' '),
  };
}

function hexSignature(key: KeyObject, body: string): string {
  return createHmac('sha256', key).update(body).digest('hex');
}

/** Here, the key consists of the bytes that the secret encodes in base64, not of its text. */
function standardSignature(key: KeyObject, text: string): string {
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}
