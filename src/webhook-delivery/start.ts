/** Webhook delivery, from the event log to the receivers: the relay and the delivery worker of this process. */
import type { PgBoss } from 'pg-boss';
import type { Log } from '../core/log.ts';
import type { Sealer } from '../core/sealing.ts';
import { type Clock, SAFETY_POLL_MS, SECOND_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import type { AddressGuard } from '../egress/address-guard.ts';
import { SUPERVISE_SECONDS } from '../jobs/jobs.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import type { WakeUps } from '../jobs/wake-ups.ts';
import type { HostLimitSettings } from './host-limits.ts';
import type { Sender, SenderOptions } from './http-sender.ts';
import { createDeliveryQueue, DELIVERY_CHANNEL, openDeliveryQueue } from './queue.ts';
import { createRelay } from './relay.ts';
import type { Attempt } from './send-message.ts';
import { startDeliveryWorker } from './worker.ts';

export type DeliveryOptions = {
  boss: PgBoss;
  wakeUps: WakeUps;
  services: { db: Database; clock: Clock; log: Log; sealer: Sealer; addressGuard: AddressGuard };
  /** The maximum number of attempts in flight in this process. */
  maxInFlight: number;
  /** Limits on the requests to one host. Default: none. */
  hostLimits?: HostLimitSettings;
  /** The timeout of an attempt, in milliseconds. */
  timeoutMs?: number;
  /** Called with each attempt that has ended. */
  onAttempt?: ((attempt: Attempt) => void) | undefined;
};

export type RunningDelivery = {
  /** Starts no further attempts, and resolves when the attempts in flight are recorded. */
  stop(): Promise<void>;
};

/** The event signal and NOTIFY wake the relay. This interval covers wake-ups that are lost. */
const RELAY_EVERY_MS = 2_000;
const SUPERVISE_EVERY_MS = SUPERVISE_SECONDS * SECOND_MS;

/** Starts delivery in this process. Any number of processes may run it. */
export async function startDelivery({
  boss,
  wakeUps,
  services,
  maxInFlight,
  hostLimits,
  timeoutMs,
  onAttempt,
}: DeliveryOptions): Promise<RunningDelivery> {
  const { db, clock, log, sealer, addressGuard } = services;
  await createDeliveryQueue(boss);
  const queue = openDeliveryQueue(boss);
  const sender = createSenderOnUse({ guard: addressGuard, clock, ...(timeoutMs !== undefined && { timeoutMs }) });
  const worker = startDeliveryWorker({
    db,
    clock,
    log,
    sealer,
    queue,
    sender,
    maxInFlight,
    ...(hostLimits && { hostLimits }),
    onAttempt,
  });
  const relayBatch = createRelay({ db, clock, queue });
  const relay = startPollLoop({
    name: 'relay',
    poll: async () => ((await relayBatch()) ? 0 : RELAY_EVERY_MS),
    log,
  });
  const supervision = startPollLoop({
    name: 'supervise webhook queue',
    async poll() {
      if (await queue.isEmpty(db.sql)) return SAFETY_POLL_MS;
      await queue.supervise();
      return SUPERVISE_EVERY_MS;
    },
    log,
  });
  wakeUps.onCommit(relay.wake);
  wakeUps.on(DELIVERY_CHANNEL, worker.wake);
  wakeUps.on(DELIVERY_CHANNEL, supervision.wake, SUPERVISE_EVERY_MS);
  return {
    async stop() {
      await supervision.stop();
      await relay.stop();
      await worker.stop();
      await sender.close();
    },
  };
}

/** Creates a sender that loads its HTTP client, which takes 20 MB of memory, only when the first message is sent. */
function createSenderOnUse(options: SenderOptions): Sender {
  let loading: Promise<Sender> | undefined;
  const load = async (): Promise<Sender> => (await import('./http-sender.ts')).createSender(options);
  return {
    async send(request) {
      loading ??= load();
      return (await loading).send(request);
    },
    async close() {
      await (await loading)?.close();
    },
  };
}
