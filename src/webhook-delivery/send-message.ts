import type { Log } from '../core/log.ts';
import type { Sealer } from '../core/sealing.ts';
import type { Clock } from '../core/time.ts';
import { timestampOf } from './envelope.ts';
import type { Outcome, Sender } from './http-sender.ts';
import type { LoadedMessage } from './load-messages.ts';
import type { Claim } from './queue.ts';
import { signedHeaders } from './signature.ts';

/** One attempt, as it ended. */
export type Attempt = {
  claim: Claim;
  message: LoadedMessage;
  at: Date;
  outcome: Outcome;
  /** false: it failed on our side, before anything was sent. */
  isMade: boolean;
};

export type SendingServices = { clock: Clock; log: Log; sealer: Sealer; sender: Sender };

const notMade: Outcome = {
  status: 0,
  text: 'The service could not make this attempt',
  retryAfterSeconds: null,
  durationMs: 0,
};

/** Makes one attempt. Never rejects: what is wrong on our side, such as a secret that does not open, is logged and says so. */
export async function sendMessage(
  { clock, log, sealer, sender }: SendingServices,
  claim: Claim,
  message: LoadedMessage,
): Promise<Attempt> {
  const at = clock.now();
  const { id: messageId, event, payload: body, url } = message;
  try {
    const secrets = secretsOf(sealer, message, at);
    const timestamp = timestampOf(body);
    const headers = signedHeaders({ messageId, event, timestamp, attemptAt: at, body, secrets });
    return { claim, message, at, outcome: await sender.send({ url, body, headers }), isMade: true };
  } catch (error) {
    log.error({ err: error, messageId }, 'An attempt could not be made');
    return { claim, message, at, outcome: notMade, isMade: false };
  }
}

/** The secrets that sign at this time, the current one first. */
function secretsOf(sealer: Sealer, message: LoadedMessage, at: Date): string[] {
  const { workspaceId, sealedSecret, previousSealedSecret, previousSecretUntil } = message;
  const isInOverlap = previousSealedSecret !== null && previousSecretUntil !== null && previousSecretUntil > at;
  return [sealedSecret, ...(isInOverlap ? [previousSealedSecret] : [])].map((sealed) =>
    sealer.open(sealed, { workspaceId, purpose: 'webhook secret' }),
  );
}
