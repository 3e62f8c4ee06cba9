/** The metrics of one application or worker, for Prometheus. Only loaded if METRICS_PORT is set. */
import { Gauge, Registry } from 'prom-client';
import type { Clock } from '../core/time.ts';
import { version } from '../core/version.ts';
import type { CallObserver } from '../http/observe-calls.ts';
import type { ScheduledJob } from '../jobs/scheduler.ts';
import type { Services } from '../services.ts';
import type { Attempt } from '../webhook-delivery/send-message.ts';
import { createCopyObserver } from './copies.ts';
import { observeDatabase } from './database.ts';
import { createAttemptObserver } from './delivery.ts';
import { observeJobs } from './jobs.ts';
import { observeStreams } from './live-updates.ts';
import { createMailObserver } from './mail.ts';
import { observeStore } from './object-store.ts';
import { observeProcess } from './process.ts';
import { observeLimits } from './rate-limits.ts';
import { createCallObserver } from './requests.ts';

export type Metrics = {
  /** The same services, wrapped so that they record metrics. Use them instead of those that were passed. */
  services: Services;
  onCall: CallObserver;
  onAttempt(attempt: Attempt): void;
  onCopy: ReturnType<typeof createCopyObserver>;
  onMail: ReturnType<typeof createMailObserver>;
  observeJobs(jobs: readonly ScheduledJob[], clock: Clock): ScheduledJob[];
  /**
   * Returns all metrics as text, in the format of `contentType`. It resolves within seconds. If the database does not
   * respond, the metrics that are read from it are absent.
   */
  scrape(): Promise<string>;
  contentType: string;
  stop(): void;
};

/** Each call creates its own registry, so one process can have several applications. */
export function createMetrics(services: Services, process: 'server' | 'worker'): Metrics {
  const registry = new Registry();
  new Gauge({
    name: 'lynxroom_build_info',
    help: 'Always 1. The labels state the kind of the process and its version',
    labelNames: ['process', 'version'],
    registers: [registry],
  }).set({ process, version }, 1);
  const database = observeDatabase(services.db, registry);
  observeStreams(services.live, registry);
  observeLimits(services.limits, registry);
  return {
    services: {
      ...services,
      store: observeStore(services.store, registry),
    },
    onCall: createCallObserver(registry),
    onAttempt: createAttemptObserver(registry),
    onCopy: createCopyObserver(registry),
    onMail: createMailObserver(registry),
    observeJobs: (jobs, clock) => observeJobs(jobs, clock, registry),
    async scrape() {
      await database.read();
      return registry.metrics();
    },
    contentType: registry.contentType,
    stop: observeProcess(registry),
  };
}
