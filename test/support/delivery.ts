/** Webhook delivery, started for a test's application as production starts it. */
import type { PgBoss } from 'pg-boss';
import { startJobs } from '../../src/jobs/jobs.ts';
import { createWakeUps } from '../../src/jobs/wake-ups.ts';
import type { HostLimitSettings } from '../../src/webhook-delivery/host-limits.ts';
import { startDelivery } from '../../src/webhook-delivery/start.ts';
import type { TestApp } from './test-app.ts';

export type TestDelivery = {
  boss: PgBoss;
  /** Makes all pending retries due now. Without it none is ever due, however long a test takes. */
  makeRetriesDue(): Promise<void>;
  stop(): Promise<void>;
};

export type TestDeliveryOptions = {
  /** The timeout of an attempt. By default it is longer than any test holds a response. */
  timeoutMs?: number;
  maxInFlight?: number;
  hostLimits?: HostLimitSettings;
};

const FOREVER = '1 day';

export async function startTestDelivery(
  app: TestApp,
  { timeoutMs = 60_000, maxInFlight = 64, hostLimits }: TestDeliveryOptions = {},
): Promise<TestDelivery> {
  const { services, databaseUrl } = app;
  const { boss, stop } = await startJobs({ connectionString: databaseUrl, log: services.log });
  postponeDelayedJobs(boss);
  const wakeUps = createWakeUps(services.db.eventSignal);
  const delivery = await startDelivery({
    boss,
    wakeUps,
    services,
    maxInFlight,
    timeoutMs,
    onAttempt: app.metrics?.onAttempt,
    ...(hostLimits && { hostLimits }),
  });
  const listener = wakeUps.start({ connectionString: databaseUrl, log: services.log });
  return {
    boss,
    async makeRetriesDue() {
      await services.db.$executeRaw`
        update pgboss.job set start_after = now() where name = 'webhooks.deliver' and start_after > now()`;
      await services.db.$queryRaw`select pg_notify('lynxroom_delivery', '')::text`;
    },
    async stop() {
      await listener.stop();
      await delivery.stop();
      await stop();
    },
  };
}

/** Postpones retries until `makeRetriesDue`: they are due by the clock of the database, which a test cannot stop. */
function postponeDelayedJobs(boss: PgBoss): void {
  const insert = boss.insert.bind(boss);
  boss.insert = (name, jobs, options) =>
    insert(
      name,
      jobs.map((job) => (Number(job.startAfter) > 0 ? { ...job, startAfter: FOREVER } : job)),
      options,
    );
}
