import { Histogram, type Registry } from 'prom-client';
import { SECOND_MS } from '../core/time.ts';
import type { Attempt } from '../webhook-delivery/send-message.ts';
import { isSuccess } from '../webhook-delivery/webhook-health.ts';

/** In seconds. An attempt times out after 10. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10];

const STATUSES = ['2xx', '3xx', '4xx', '5xx', 'none', 'not_sent'];

/** Observes the attempts to deliver webhook messages. */
export function createAttemptObserver(registry: Registry): (attempt: Attempt) => void {
  const duration = new Histogram({
    name: 'lynxroom_webhook_attempt_duration_seconds',
    help: 'Attempts to deliver webhook messages, by outcome and class of the response',
    labelNames: ['outcome', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });
  for (const status of STATUSES) duration.zero({ outcome: status === '2xx' ? 'success' : 'failure', status });
  return (attempt) => {
    const labels = { outcome: isSuccess(attempt) ? 'success' : 'failure', status: statusOf(attempt) };
    duration.observe(labels, attempt.outcome.durationMs / SECOND_MS);
  };
}

/** `none`: there was no response. `not_sent`: the attempt failed in this service. */
function statusOf({ outcome, wasSent }: Attempt): string {
  if (!wasSent) return 'not_sent';
  return outcome.status === 0 ? 'none' : `${Math.floor(outcome.status / 100)}xx`;
}
