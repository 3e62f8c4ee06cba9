/** The worker of this process that has the LiveKit server of the service record. */
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import type { Work, Worker } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { runDueCalls, startCallingWorker } from '../livekit-calls/calling-worker.ts';
import { createEgressService } from '../livekit-calls/egress-service.ts';
import type { LivekitCaller } from '../livekit-calls/livekit-caller.ts';
import { EGRESS_LEASE_MS, type EgressLease, livekitEgresses } from './egress-queue.ts';
import { runEgress } from './run-egress.ts';

/** How many recordings a process looks at, or stores, at a time. */
const MAX_RUNNING = 8;

/** Starts a worker. Any number of processes may run one. */
export function startEgressWorker(options: { services: Services; wakeUps: WakeUps }): Worker {
  return startCallingWorker(options, toWork);
}

/** Looks at the recordings that are due. Resolves with their number. */
export function runDueEgresses(services: Services): Promise<number> {
  return runDueCalls(services, toWork);
}

function toWork(services: Services, caller: LivekitCaller): Work<EgressLease> {
  const { sql } = services.db;
  const egresses = createEgressService(caller);
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
