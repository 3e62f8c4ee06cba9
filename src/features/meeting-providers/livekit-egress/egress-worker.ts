/** The workers of this process that have the LiveKit server of the service record, and that store its files. */
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import { runDue, startWorker, type Work, type Worker } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { LIVEKIT_CHANNEL } from '../../livekit/rooms.ts';
import { runDueCalls, startCallingWorker } from '../livekit-calls/calling-worker.ts';
import { createEgressService } from '../livekit-calls/egress-service.ts';
import type { LivekitCaller } from '../livekit-calls/livekit-caller.ts';
import { EGRESS_LEASE_MS, type EgressLease, type EgressStep, livekitEgresses } from './egress-queue.ts';
import { runEgress } from './run-egress.ts';
import { storeEgress } from './store-egress.ts';

/** For how many recordings a process calls the server at a time. */
const MAX_CALLING = 8;
/** How many files a process stores at a time. Each may have gigabytes. */
const MAX_STORING = 4;

/** Starts the workers. Any number of processes may run them. */
export function startEgressWorker(options: { services: Services; wakeUps: WakeUps }): Worker {
  const calling = startCallingWorker(options, toCalling);
  const storing = startWorker(toStoring(options.services), options.services);
  options.wakeUps.on(LIVEKIT_CHANNEL, storing.wake);
  return {
    wake() {
      calling.wake();
      storing.wake();
    },
    async stop() {
      await Promise.all([calling.stop(), storing.stop()]);
    },
  };
}

/** Looks at the recordings that are due, and stores their files. Resolves with the number of both. */
export async function runDueEgresses(services: Services): Promise<number> {
  const called = await runDueCalls(services, toCalling);
  return called + (await runDue(toStoring(services), services));
}

function toCalling(services: Services, caller: LivekitCaller): Work<EgressLease> {
  const egresses = createEgressService(caller);
  return {
    name: 'LiveKit egress',
    max: MAX_CALLING,
    ...toQueue(services, 'call'),
    run: (lease, signal) => runEgress(services, egresses, lease, signal),
  };
}

function toStoring(services: Services): Work<EgressLease> {
  return {
    name: 'files of LiveKit egress',
    max: MAX_STORING,
    ...toQueue(services, 'store'),
    run: (lease, signal) => storeEgress(services, lease, signal),
  };
}

function toQueue({ db: { sql } }: Services, step: EgressStep) {
  const only = [step];
  return {
    leaseMs: EGRESS_LEASE_MS,
    lease: (limits) => livekitEgresses.lease(sql, { ...limits, only }),
    renew: (held, leasedUntil) => livekitEgresses.renew(sql, held, leasedUntil),
    findNextDue: () => livekitEgresses.findNextDue(sql, only),
  } satisfies Partial<Work<EgressLease>>;
}
