/** The headers by which a receiver knows that a webhook is ours, in two forms. */
import { createHmac } from 'node:crypto';
import { toUnixSeconds } from '../core/time.ts';

export type SignedMessage = {
  /** The same on every attempt. */
  messageId: string;
  event: string;
  /** The time of the event, as the body has it: ISO 8601. */
  timestamp: string;
  attemptAt: Date;
  body: string;
  /** The current secret; behind it, while it still counts, the one before its rotation. */
  secrets: readonly string[];
};

const SECRET_PREFIX = /^whsec_/;

/**
 * The headers of one attempt, each signature made over the exact bytes of the body in UTF-8:
 *
 * - `x-webhook-signature`: lower-case hex HMAC-SHA256 of the body, keyed with the whole secret, `whsec_` included;
 *   `x-webhook-signature-previous`: the same with the previous secret, where there is one. `x-webhook-timestamp` is the
 *   body's.
 * - `webhook-signature`: as Standard Webhooks 1.0.0 has it (https://www.standardwebhooks.com, "Signature scheme"), over
 *   `webhook-id`, `webhook-timestamp` (of this attempt, in Unix seconds) and the body, with a signature for each secret.
 */
export function signedHeaders(message: SignedMessage): Record<string, string> {
  const { messageId, event, timestamp, attemptAt, body, secrets } = message;
  const [current, previous] = secrets;
  if (current === undefined) throw new Error('There is no secret to sign with');
  const attemptSeconds = String(toUnixSeconds(attemptAt));
  const prefix = `${messageId}.${attemptSeconds}.`;
  return {
    'content-type': 'application/json',
    'x-webhook-event': event,
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': hexSignature(current, body),
    ...(previous !== undefined && { 'x-webhook-signature-previous': hexSignature(previous, body) }),
    'webhook-id': messageId,
    'webhook-timestamp': attemptSeconds,
    'webhook-signature': secrets.map((secret) => standardSignature(secret, prefix, body)).join(' '),
  };
}

function hexSignature(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Here the key is the bytes that the secret holds in base64, not its text. */
function standardSignature(secret: string, prefix: string, body: string): string {
  const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`;
}
