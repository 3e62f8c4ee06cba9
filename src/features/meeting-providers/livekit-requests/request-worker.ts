/** The worker of this process that tells LiveKit servers what hosts have done. */
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import { runDue, startWorker, type Work, type Worker } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { LIVEKIT_CHANNEL } from '../../livekit/requests.ts';
import { createLivekitCaller } from '../livekit-calls/livekit-caller.ts';
import { createRoomService, type RoomService } from '../livekit-calls/room-service.ts';
import { livekitRequests, REQUEST_LEASE_MS, type RequestLease } from './request-queue.ts';
import { runLivekitRequest } from './run-request.ts';

/** How many requests a process carries out at a time: they wait for servers of others. */
const MAX_RUNNING = 8;

/** Starts a worker. Any number of processes may run one. */
export function startLivekitWorker({ services, wakeUps }: { services: Services; wakeUps: WakeUps }): Worker {
  const caller = createLivekitCaller(services.addressGuard);
  const worker = startWorker(toWork(services, createRoomService(caller)), services);
  wakeUps.on(LIVEKIT_CHANNEL, worker.wake);
  return {
    wake: worker.wake,
    async stop() {
      await worker.stop();
      await caller.close();
    },
  };
}

/** Carries out the requests that are due. Resolves with their number. */
export async function runDueLivekitRequests(services: Services): Promise<number> {
  const caller = createLivekitCaller(services.addressGuard);
  try {
    return await runDue(toWork(services, createRoomService(caller)), services);
  } finally {
    await caller.close();
  }
}

function toWork(services: Services, rooms: RoomService): Work<RequestLease> {
  const { sql } = services.db;
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
