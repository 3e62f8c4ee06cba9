/** The sending of webhooks, started beside a test's application as production starts it. */
import type { PgBoss } from 'pg-boss';
import { startJobs } from '../../src/jobs/jobs.ts';
import { startDelivery } from '../../src/webhook-delivery/start.ts';
import type { TestApp } from './test-app.ts';

export type TestDelivery = {
  boss: PgBoss;
  /** Makes due what waits for its time, as if the time had passed for the queue. */
  hurry(): Promise<void>;
  stop(): Promise<void>;
};

export async function startTestDelivery(
  app: TestApp,
  { timeoutMs = 2_000, maxInFlight = 64 }: { timeoutMs?: number; maxInFlight?: number } = {},
): Promise<TestDelivery> {
  const { services, databaseUrl } = app;
  const jobs = await startJobs({ connectionString: databaseUrl, schedule: [], log: services.log });
  const delivery = await startDelivery({ boss: jobs.boss, services, maxInFlight, timeoutMs });
  return {
    boss: jobs.boss,
    async hurry() {
      await services.db.$executeRaw`
        update pgboss.job set start_after = now() where name = 'webhooks.deliver' and start_after > now()`;
      await services.db.$queryRaw`select pg_notify('lynxroom_delivery', '')::text`;
    },
    async stop() {
      await delivery.stop();
      await jobs.stop();
    },
  };
}
