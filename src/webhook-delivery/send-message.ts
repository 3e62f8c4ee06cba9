import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time.ts';
import { isTracing, type SpanEnd, type SpanOptions, traceHeaders, withSpan } from '../core/tracing.ts';
import { readTimestamp } from '../events/envelope.ts';
import type { Outcome, Sender } from './http-sender.ts';
import type { LeasedMessage, LoadedMessage } from './load-messages.ts';
import { signedHeaders } from './signature.ts';
import type { OpenSigningKey, SigningKey } from './signing-keys.ts';

/** A finished attempt to deliver a message. */
export type Attempt = LeasedMessage & {
  /** When it started. */
  at: Date;
  outcome: Outcome;
  /** False if the attempt failed in this service, and therefore says nothing about the receiver. */
  wasSent: boolean;
};

export type SendingServices = { clock: Clock; log: Log; openKey: OpenSigningKey; sender: Sender };

const NOT_SENT: Outcome = {
  status: 0,
  text: 'The service could not make this attempt',
  retryAfterSeconds: null,
  durationMs: 0,
};

/** Makes one attempt. Never rejects: an internal error, such as a secret that cannot be decrypted, is logged. */
export function sendMessage(services: SendingServices, leased: LeasedMessage): Promise<Attempt> {
  if (!isTracing) return attempt(services, leased);
  const { event, id, roundAttempts, traceparent, url } = leased.message;
  const options: SpanOptions = {
    kind: 'client',
    attributes: {
      'http.request.method': 'POST',
      'server.address': URL.parse(url)?.hostname ?? '',
      'lynxroom.message_id': id,
      'lynxroom.attempt': roundAttempts + 1,
    },
    parent: traceparent,
  };
  return withSpan(`deliver ${event}`, options, () => attempt(services, leased), describeAttempt);
}

function describeAttempt({ outcome: { status } }: Attempt): SpanEnd {
  return { attributes: { 'http.response.status_code': status }, hasFailed: status < 200 || status >= 300 };
}

async function attempt({ clock, log, openKey, sender }: SendingServices, leased: LeasedMessage): Promise<Attempt> {
  const { message } = leased;
  const { id: messageId, event, sequence, payload: body, url } = message;
  const at = clock.now();
  try {
    const keys = openKeys(openKey, message, at);
    const headers = {
      ...traceHeaders(),
      ...signedHeaders({ messageId, event, timestamp: readTimestamp(body), attemptAt: at, body, keys }),
      ...(sequence !== null && { 'x-webhook-sequence': sequence }),
    };
    return { ...leased, at, outcome: await sender.send({ url, body, headers }), wasSent: true };
  } catch (error) {
    log.error({ err: error, messageId }, 'A delivery attempt could not be made');
    return { ...leased, at, outcome: NOT_SENT, wasSent: false };
  }
}

/** The keys of the secrets that are valid at this time, the current one first. */
function openKeys(openKey: OpenSigningKey, message: LoadedMessage, at: Date): SigningKey[] {
  const { workspaceId, sealedSecret, previousSealedSecret, previousSecretUntil } = message;
  const isInOverlap = previousSealedSecret !== null && previousSecretUntil !== null && at < previousSecretUntil;
  return [sealedSecret, ...(isInOverlap ? [previousSealedSecret] : [])].map((sealed) => openKey(workspaceId, sealed));
}
