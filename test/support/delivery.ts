/** Webhook delivery, started for a test's application as production starts it. */
import { createWakeUps } from '../../src/jobs/wake-ups.ts';
import type { HostLimitSettings } from '../../src/webhook-delivery/host-limits.ts';
import { startDelivery } from '../../src/webhook-delivery/start.ts';
import type { TestApp } from './test-app.ts';

export type TestDelivery = {
  /** Makes all pending retries due now. Without it none is ever due, however long a test takes. */
  makeRetriesDue(): Promise<void>;
  stop(): Promise<void>;
};

export type TestDeliveryOptions = {
  /** The timeout of an attempt. By default it is longer than any test holds a response. */
  timeoutMs?: number;
  maxInFlight?: number;
  hostLimits?: HostLimitSettings;
  /** Where to listen for notifications. Default: the database of the application. */
  directUrl?: string;
};

/** Postpones retries until `makeRetriesDue`, however long a test takes. The API shows the time of the schedule. */
const POSTPONE_RETRIES = `
  create or replace function postpone_retry() returns trigger language plpgsql as $$
  begin
    new.due_at = '2100-01-01';
    return new;
  end $$;
  create or replace trigger postpone_retries before update on webhook_messages for each row
  when (new.round_attempts > 0 and new.due_at > old.due_at) execute function postpone_retry()`;

export async function startTestDelivery(
  app: TestApp,
  { timeoutMs = 60_000, maxInFlight = 64, hostLimits, directUrl }: TestDeliveryOptions = {},
): Promise<TestDelivery> {
  const { services, databaseUrl } = app;
  for (const sql of POSTPONE_RETRIES.split(';\n  create or replace trigger'))
    await services.db.$executeRawUnsafe(sql.startsWith('\n') ? sql : `create or replace trigger${sql}`);
  const wakeUps = createWakeUps(services.db.eventSignal);
  const delivery = startDelivery({
    wakeUps,
    services,
    maxInFlight,
    timeoutMs,
    onAttempt: app.metrics?.onAttempt,
    ...(hostLimits && { hostLimits }),
  });
  const listener = wakeUps.start({ connectionString: directUrl ?? databaseUrl, log: services.log });
  return {
    async makeRetriesDue() {
      await services.db.$executeRaw`
        update webhook_messages set due_at = '2000-01-01' where status = 'waiting' and due_at >= '2100-01-01'`;
      await services.db.$queryRaw`select pg_notify('lynxroom_delivery', '')::text`;
    },
    async stop() {
      await listener.stop();
      await delivery.stop();
    },
  };
}
