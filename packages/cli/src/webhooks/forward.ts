/** Sends a message on, signed as the service signs it. */
import { createHmac } from 'node:crypto';

export type Message = {
  /** The header `webhook-id`. */
  id: string;
  event: string;
  /** The position of the event in the log of the workspace; null for a test message. */
  sequence: number | null;
  /** The body, exactly as it is signed. */
  body: string;
};

const TIMEOUT_MS = 10_000;

/**
 * Posts a message with the headers of a webhook request. It is signed anew with the webhook's secret, because the
 * signature covers the time of the attempt. Resolves with one line that describes the response, or says that there was
 * none.
 */
export async function forwardMessage(message: Message, secret: string, url: string): Promise<string> {
  const headers = sign(message, secret, new Date());
  const init = { method: 'POST', headers, body: message.body, redirect: 'manual' } as const;
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    return `${url} answered ${response.status}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `${url} did not answer: ${cause instanceof Error ? cause.message || cause.name : String(cause)}`;
  }
}

/**
 * The same headers as in `src/webhook-delivery/signature.ts`: a hex HMAC of the body, and a Standard Webhooks
 * signature.
 */
function sign({ id, event, sequence, body }: Message, secret: string, now: Date): Record<string, string> {
  const { timestamp } = JSON.parse(body);
  const seconds = String(Math.floor(now.getTime() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'x-webhook-event': event,
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    ...(sequence !== null && { 'x-webhook-sequence': String(sequence) }),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${signature}`,
  };
}
