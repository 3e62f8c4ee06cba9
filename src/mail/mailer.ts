/** The mailer of this process: it leases the messages that are due, and sends a few of each lane at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import type { WakeUps } from '../jobs/wake-ups.ts';
import { runDue, startWorker, type Work, type Worker, WorkerStopping } from '../jobs/worker.ts';
import type { Services } from '../services.ts';
import { allKinds, type MailKind, type MailSource, mailLanes } from './kinds.ts';
import {
  findNextMail,
  type LeasedMail,
  leaseDueMail,
  type MailResult,
  type MailState,
  openMail,
  recordAttempt,
  renewLeases,
} from './outbox.ts';
import type { MailTransport, SendResult } from './smtp.ts';

/** Commits that add mail wake the mailer, but not more often: most commits add none. */
const WAKE_EVERY_MS = SECOND_MS;
/** If a process is killed, another one gets its messages after this time. */
export const LEASE_MS = 20 * SECOND_MS;
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

/** Starts to send messages. Any number of processes may do so. `stop` waits for the messages that are being sent. */
export function startMailer({ wakeUps, ...options }: MailerOptions & { wakeUps: WakeUps }): Worker {
  const { services, transport, heartbeatMs } = options;
  const worker = startWorker(toWork(options), { ...services, ...(heartbeatMs !== undefined && { heartbeatMs }) });
  wakeUps.onCommit(worker.wake, WAKE_EVERY_MS);
  return {
    wake: worker.wake,
    async stop() {
      await worker.stop();
      transport?.close();
    },
  };
}

/** Sends the next messages that are due, as many as have connections. Resolves with their number. */
export function sendDueMail(options: MailerOptions): Promise<number> {
  return runDue(toWork(options), options.services);
}

/**
 * Each message is sent at least once: if the process is killed before it has recorded an attempt, another process
 * repeats the attempt as soon as the lease has ended.
 */
function toWork(options: MailerOptions): Work<LeasedMail> {
  const { db, clock, log } = options.services;
  /** The kinds that this process has sent least recently come first, so that a flood of one kind delays no other. */
  let kinds: readonly MailKind[] = allKinds;

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
    name: 'mail',
    max: Object.values(mailLanes).reduce((sum, max) => sum + max, 0),
    leaseMs: LEASE_MS,
    async lease({ now, leasedUntil }, held) {
      const leased = await leaseDueMail(db, { now, leasedUntil, held, kinds });
      const leasedKinds = new Set(leased.map(({ kind }) => kind));
      kinds = [...kinds.filter((kind) => !leasedKinds.has(kind)), ...leasedKinds];
      return leased;
    },
    renew: (held, leasedUntil) => renewLeases(db, held, leasedUntil),
    findNextDue: () => findNextMail(db, kinds),
    async run(mail, signal) {
      const result = await attempt(options, mail);
      // As long as the attempt is not recorded, the message counts as held, so that it is not sent again.
      while (!(await tryToRecord(mail, result)) && !(signal.reason instanceof WorkerStopping)) await sleep(SECOND_MS);
      options.onAttempt?.(result.state === 'queued' ? 'retried' : result.state);
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
