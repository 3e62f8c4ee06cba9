/** The worker of this process that tells LiveKit servers what has happened in the rooms that they carry. */
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import type { Work, Worker } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { runDueCalls, startCallingWorker } from '../livekit-calls/calling-worker.ts';
import type { LivekitCaller } from '../livekit-calls/livekit-caller.ts';
import { createRoomService } from '../livekit-calls/room-service.ts';
import { livekitRooms, ROOM_LEASE_MS, type RoomLease } from './room-queue.ts';
import { updateRoom } from './update-room.ts';

/** How many rooms a process updates at a time: it waits for servers of others. */
const MAX_RUNNING = 8;

/** Starts a worker. Any number of processes may run one. */
export function startLivekitWorker(options: { services: Services; wakeUps: WakeUps }): Worker {
  return startCallingWorker(options, toWork);
}

/** Updates the rooms that are due. Resolves with their number. */
export function updateDueRooms(services: Services): Promise<number> {
  return runDueCalls(services, toWork);
}

function toWork(services: Services, caller: LivekitCaller): Work<RoomLease> {
  const { sql } = services.db;
  const rooms = createRoomService(caller);
  return {
    name: 'livekit',
    max: MAX_RUNNING,
    leaseMs: ROOM_LEASE_MS,
    lease: (limits) => livekitRooms.lease(sql, limits),
    renew: (held, leasedUntil) => livekitRooms.renew(sql, held, leasedUntil),
    findNextDue: () => livekitRooms.findNextDue(sql),
    run: (lease, signal) => updateRoom(services, rooms, lease, signal),
  };
}
