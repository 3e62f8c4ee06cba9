/** Workers that call LiveKit servers. All are woken by the same channel. */
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import { runDue, startWorker, type Work, type Worker } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { LIVEKIT_CHANNEL } from '../../livekit/rooms.ts';
import { createLivekitCaller, type LivekitCaller } from './livekit-caller.ts';

type ToWork<Held> = (services: Services, caller: LivekitCaller) => Work<Held>;

/** Starts a worker. Any number of processes may run one. */
export function startCallingWorker<Held extends object>(
  { services, wakeUps }: { services: Services; wakeUps: WakeUps },
  toWork: ToWork<Held>,
): Worker {
  const caller = createLivekitCaller(services.addressGuard);
  const worker = startWorker(toWork(services, caller), services);
  wakeUps.on(LIVEKIT_CHANNEL, worker.wake);
  return {
    wake: worker.wake,
    async stop() {
      await worker.stop();
      await caller.close();
    },
  };
}

/** Does what is due. Resolves with the number of rows. */
export async function runDueCalls<Held extends object>(services: Services, toWork: ToWork<Held>): Promise<number> {
  const caller = createLivekitCaller(services.addressGuard);
  try {
    return await runDue(toWork(services, caller), services);
  } finally {
    await caller.close();
  }
}
