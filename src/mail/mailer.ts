/**
 * The mailer of this process: it leases the messages that are due, and sends a few of each lane at a time. Heartbeats
 * renew a lease until the attempt is recorded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { type PollLoop, startPollLoop } from '../jobs/poll-loop.ts';
import type { Services } from '../services.ts';
import { allKinds, type MailKind, type MailSource } from './kinds.ts';
import {
  type LeasedMail,
  leaseDueMail,
  type MailResult,
  type MailState,
  openMail,
  recordAttempt,
  renewLeases,
} from './outbox.ts';
import type { MailTransport, SendResult } from './smtp.ts';

const POLL_EVERY_MS = SECOND_MS;
/** If a process is killed, another one gets its messages after this time. */
export const LEASE_MS = 20 * SECOND_MS;
/** A quarter of the lease, so that a lost heartbeat does not end it. */
const HEARTBEAT_MS = LEASE_MS / 4;
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
  /** Default: a quarter of a lease. */
  heartbeatMs?: number;
  onAttempt?: ((outcome: MailOutcome) => void) | undefined;
};

/** The outcome of an attempt. `retried` means that the message waits for the next attempt. */
export type MailOutcome = Exclude<MailState, 'queued'> | 'retried';

/** Starts to send messages. Any number of processes may do so. */
export function startMailer(options: MailerOptions): PollLoop {
  const { services, transport, heartbeatMs = HEARTBEAT_MS } = options;
  const sending = createSending(options);
  const { wake, stop } = startPollLoop({
    name: 'mail',
    poll: async () => ((await sending.start(() => wake())) > 0 ? 0 : POLL_EVERY_MS),
    log: services.log,
  });
  const heartbeat = startPollLoop({
    name: 'mail heartbeat',
    async poll() {
      await sending.renew();
      return heartbeatMs;
    },
    log: services.log,
  });
  return {
    wake,
    async stop() {
      await stop();
      await sending.drain();
      await heartbeat.stop();
      transport?.close();
    },
  };
}

/** Sends the next messages that are due, as many as have connections. Resolves with their number. */
export async function sendDueMail(options: MailerOptions): Promise<number> {
  const sending = createSending(options);
  const count = await sending.start();
  await sending.drain();
  return count;
}

/**
 * The messages that this process is sending, each at least once: if the process is killed before it has recorded an
 * attempt, another process repeats the attempt as soon as the lease has ended.
 */
function createSending(options: MailerOptions) {
  const { db, clock, log } = options.services;
  const running = new Map<LeasedMail, Promise<void>>();
  /** The kinds that this process has sent least recently come first, so that a flood of one kind delays no other. */
  let kinds: readonly MailKind[] = allKinds;
  let isDraining = false;
  const leaseEnd = (): Date => new Date(clock.now().getTime() + LEASE_MS);

  async function send(mail: LeasedMail): Promise<void> {
    const result = await attempt(options, mail);
    // As long as the attempt is not recorded, the message counts as held, so that it is not sent again.
    while (!(await tryToRecord(mail, result)) && !isDraining) await sleep(SECOND_MS);
    options.onAttempt?.(result.state === 'queued' ? 'retried' : result.state);
  }

  async function tryToRecord(mail: LeasedMail, result: MailResult): Promise<boolean> {
    try {
      await recordAttempt(db, mail, result, clock.now());
      return true;
    } catch (error) {
      log.error({ err: error, mail: mail.id }, 'Failed to record an attempt to send a message');
      return false;
    }
  }

  return {
    /** Leases messages and starts to send them. Calls `onEnd` after each. Resolves with their number. */
    async start(onEnd?: () => void): Promise<number> {
      const which = { held: [...running.keys()], kinds };
      const leased = await leaseDueMail(db, { now: clock.now(), leasedUntil: leaseEnd(), ...which });
      const leasedKinds = new Set(leased.map(({ kind }) => kind));
      kinds = [...kinds.filter((kind) => !leasedKinds.has(kind)), ...leasedKinds];
      for (const mail of leased) {
        const ended = send(mail).finally(() => {
          running.delete(mail);
          onEnd?.();
        });
        running.set(mail, ended);
      }
      return leased.length;
    },
    renew: () => renewLeases(db, [...running.keys()], leaseEnd()),
    /** Waits for the messages that are being sent. */
    async drain(): Promise<void> {
      isDraining = true;
      await Promise.all(running.values());
    },
  };
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
