/** Webhook delivery, from the event log to the receivers: the relay and the delivery worker of this process. */
import type { Log } from '../core/log.ts';
import type { Sealer } from '../core/sealing.ts';
import { type Clock, SAFETY_POLL_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import type { AddressGuard } from '../egress/address-guard.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import type { WakeUps } from '../jobs/wake-ups.ts';
import type { HostLimitSettings } from './host-limits.ts';
import type { Sender, SenderOptions } from './http-sender.ts';
import { DELIVERY_CHANNEL, openDeliveryQueue } from './queue.ts';
import { createRelay } from './relay.ts';
import type { Attempt } from './send-message.ts';
import { startDeliveryWorker } from './worker.ts';

export type DeliveryOptions = {
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
/** How many jobs of the previous version are taken in one transaction. */
const MAX_TAKEN = 1_000;

/** Starts delivery in this process. Any number of processes may run it. */
export function startDelivery({
  wakeUps,
  services,
  maxInFlight,
  hostLimits,
  timeoutMs,
  onAttempt,
}: DeliveryOptions): RunningDelivery {
  const { db, clock, log, sealer, addressGuard } = services;
  const queue = openDeliveryQueue({ db });
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
  const takeover = startPollLoop({
    name: 'take pg-boss jobs',
    async poll() {
      const taken = await queue.takeOldJobs(MAX_TAKEN);
      if (taken > 0) worker.wake();
      return taken === MAX_TAKEN ? 0 : SAFETY_POLL_MS;
    },
    log,
  });
  wakeUps.onCommit(relay.wake);
  wakeUps.on(DELIVERY_CHANNEL, worker.wake);
  return {
    async stop() {
      await takeover.stop();
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
