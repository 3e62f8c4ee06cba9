/** The mailer of this process: it leases the messages that are due, and sends a few at a time. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { type PollLoop, startPollLoop } from '../jobs/poll-loop.ts';
import type { Services } from '../services.ts';
import type { MailSource } from './kinds.ts';
import { type LeasedMail, leaseDueMail, type MailResult, type MailState, openMail, recordAttempt } from './outbox.ts';
import { MAX_CONNECTIONS, type MailTransport, type SendResult } from './smtp.ts';

const POLL_EVERY_MS = SECOND_MS;
/** Must be longer than an attempt can take. */
const LEASE_MS = 5 * MINUTE_MS;
/**
 * The delay after each failed attempt. If the attempt after the last delay also fails, the message has failed for good.
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  7 * HOUR_MS,
  12 * HOUR_MS,
];

export type MailerOptions = {
  services: Pick<Services, 'db' | 'clock' | 'log' | 'sealer'>;
  /** Null if there is no mail server: messages are then not sent, but stored so that they can be read. */
  transport: MailTransport | null;
  source: MailSource;
  onAttempt?: ((outcome: MailOutcome) => void) | undefined;
};

/** The outcome of an attempt. `retried` means that the message waits for the next attempt. */
export type MailOutcome = Exclude<MailState, 'queued'> | 'retried';

/** Starts to send messages. Any number of processes may do so. */
export function startMailer(options: MailerOptions): PollLoop {
  const { stop, wake } = startPollLoop({
    name: 'mail',
    poll: async () => ((await sendDueMail(options)) === MAX_CONNECTIONS ? 0 : POLL_EVERY_MS),
    log: options.services.log,
  });
  return {
    wake,
    async stop() {
      await stop();
      options.transport?.close();
    },
  };
}

/**
 * Sends the next messages that are due, each at least once: if this process is killed before it has recorded an
 * attempt, another process repeats the attempt. Resolves with the number of messages.
 */
export async function sendDueMail(options: MailerOptions): Promise<number> {
  const { db, clock } = options.services;
  const now = clock.now();
  const leasedUntil = new Date(now.getTime() + LEASE_MS);
  const leased = await leaseDueMail(db, { now, leasedUntil, max: MAX_CONNECTIONS });
  await Promise.all(
    leased.map(async (mail) => {
      const result = await attempt(options, mail);
      await recordAttempt(db, mail, result, clock.now());
      options.onAttempt?.(result.state === 'queued' ? 'retried' : result.state);
    }),
  );
  return leased.length;
}

async function attempt({ services, transport, source }: MailerOptions, mail: LeasedMail): Promise<MailResult> {
  const { log, clock, sealer } = services;
  if (!mail.is_wanted) return { state: 'dropped' };
  if (transport === null) return { state: 'kept' };
  const fields = { mail: mail.id, kind: mail.kind, attempt: mail.attempts };
  let result: SendResult;
  try {
    const { message_id: messageId, created_at: date, to_address: to } = mail;
    result = await transport.send({ ...openMail(sealer, mail, source), messageId, date, to });
  } catch (error) {
    // The data was sealed with another key. Another attempt would fail too.
    log.error({ ...fields, err: error }, 'A message cannot be read, and is not sent');
    return { state: 'failed', lastError: 'The message cannot be read' };
  }
  if (result.kind === 'accepted') return { state: 'sent' };
  const { reason, isOurFault } = result;
  const delay = RETRY_DELAYS_MS[mail.attempts - 1];
  if (result.kind === 'refused' || delay === undefined) {
    log.warn({ ...fields, reason }, 'Failed to deliver a message');
    return { state: 'failed', lastError: reason };
  }
  if (isOurFault) log.error({ ...fields, reason }, 'The mail server cannot be used: check SMTP_URL');
  return { state: 'queued', dueAt: new Date(clock.now().getTime() + delay), lastError: reason };
}
