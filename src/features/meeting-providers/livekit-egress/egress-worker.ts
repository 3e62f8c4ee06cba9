/** The worker of this process that has the LiveKit server of the service record. */
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import { runDue, startWorker, type Work, type Worker } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { LIVEKIT_CHANNEL } from '../../livekit/requests.ts';
import { createEgressService, type EgressService } from '../livekit-calls/egress-service.ts';
import { createLivekitCaller } from '../livekit-calls/livekit-caller.ts';
import { EGRESS_LEASE_MS, type EgressLease, livekitEgresses } from './egress-queue.ts';
import { runEgress } from './run-egress.ts';

/** How many recordings a process looks at, or stores, at a time. */
const MAX_RUNNING = 8;

/** Starts a worker. Any number of processes may run one. */
export function startEgressWorker({ services, wakeUps }: { services: Services; wakeUps: WakeUps }): Worker {
  const caller = createLivekitCaller(services.addressGuard);
  const worker = startWorker(toWork(services, createEgressService(caller)), services);
  wakeUps.on(LIVEKIT_CHANNEL, worker.wake);
  return {
    wake: worker.wake,
    async stop() {
      await worker.stop();
      await caller.close();
    },
  };
}

/** Looks at the recordings that are due. Resolves with their number. */
export async function runDueEgresses(services: Services): Promise<number> {
  const caller = createLivekitCaller(services.addressGuard);
  try {
    return await runDue(toWork(services, createEgressService(caller)), services);
  } finally {
    await caller.close();
  }
}

function toWork(services: Services, egresses: EgressService): Work<EgressLease> {
  const { sql } = services.db;
  return {
    name: 'LiveKit egress',
    max: MAX_RUNNING,
    leaseMs: EGRESS_LEASE_MS,
    lease: (limits) => livekitEgresses.lease(sql, limits),
    renew: (held, leasedUntil) => livekitEgresses.renew(sql, held, leasedUntil),
    findNextDue: () => livekitEgresses.findNextDue(sql),
    run: (lease, signal) => runEgress(services, egresses, lease, signal),
  };
}
