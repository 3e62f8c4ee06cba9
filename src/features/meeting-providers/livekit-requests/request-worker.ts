/** The worker of this process that tells LiveKit servers what hosts have done. */
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import type { Work, Worker } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { runDueCalls, startCallingWorker } from '../livekit-calls/calling-worker.ts';
import type { LivekitCaller } from '../livekit-calls/livekit-caller.ts';
import { createRoomService } from '../livekit-calls/room-service.ts';
import { livekitRequests, REQUEST_LEASE_MS, type RequestLease } from './request-queue.ts';
import { runLivekitRequest } from './run-request.ts';

/** How many requests a process carries out at a time: they wait for servers of others. */
const MAX_RUNNING = 8;

/** Starts a worker. Any number of processes may run one. */
export function startLivekitWorker(options: { services: Services; wakeUps: WakeUps }): Worker {
  return startCallingWorker(options, toWork);
}

/** Carries out the requests that are due. Resolves with their number. */
export function runDueLivekitRequests(services: Services): Promise<number> {
  return runDueCalls(services, toWork);
}

function toWork(services: Services, caller: LivekitCaller): Work<RequestLease> {
  const { sql } = services.db;
  const rooms = createRoomService(caller);
  return {
    name: 'livekit',
    max: MAX_RUNNING,
    leaseMs: REQUEST_LEASE_MS,
    lease: (limits) => livekitRequests.lease(sql, limits),
    renew: (held, leasedUntil) => livekitRequests.renew(sql, held, leasedUntil),
    findNextDue: () => livekitRequests.findNextDue(sql),
    run: (lease, signal) => runLivekitRequest(services, rooms, lease, signal),
  };
}
