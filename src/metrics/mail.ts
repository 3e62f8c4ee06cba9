import { Counter, type Registry } from 'prom-client';
import type { MailOutcome } from '../mail/mailer.ts';

const OUTCOMES: readonly MailOutcome[] = ['sent', 'retried', 'failed', 'dropped', 'kept'];

/** Counts the attempts of this process to send a message. */
export function createMailObserver(registry: Registry): (outcome: MailOutcome) => void {
  const attempts = new Counter({
    name: 'lynxroom_mail_attempts_total',
    help: 'Attempts to send a message; dropped: the message was no longer wanted; kept: no mail server is configured',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of OUTCOMES) attempts.inc({ outcome }, 0);
  return (outcome) => attempts.inc({ outcome });
}
