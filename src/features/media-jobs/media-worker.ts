/** The media worker of this process: it leases files that are due, and looks at one after another. */
import type { PgBoss } from 'pg-boss';
import { systemTicker } from '../../core/ticker.ts';
import { SECOND_MS } from '../../core/time.ts';
import { withSpan } from '../../core/tracing.ts';
import { listenTo, startPollLoop } from '../../jobs/poll-loop.ts';
import { MEDIA_CHANNEL } from '../../media/add-media-job.ts';
import type { Services } from '../../services.ts';
import { leaseMediaJob } from './media-queue.ts';
import { runMediaJob } from './run-media-job.ts';

/** NOTIFY wakes the worker for new files. Polling finds files that are due again, or whose notification was lost. */
const POLL_EVERY_MS = 5 * SECOND_MS;

/** Starts a worker. Any number of processes may run one. `stop` releases the file that it looks at. */
export async function startMediaWorker({
  boss,
  services,
}: {
  boss: PgBoss;
  services: Services;
}): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const loop = startPollLoop({
    name: 'media',
    async poll() {
      const isFound = await runDueMediaJob(services, stopping.signal);
      return isFound ? 0 : POLL_EVERY_MS;
    },
    log: services.log,
  });
  const stopListening = await listenTo(boss, MEDIA_CHANNEL, loop.wake, services.log);
  return {
    async stop() {
      await stopListening();
      stopping.abort(new Error('The media worker is stopping'));
      await loop.stop();
    },
  };
}

/** Leases a file that is due, and looks at it. Resolves with false if no file is due. */
export async function runDueMediaJob(services: Services, stopping: AbortSignal): Promise<boolean> {
  const lease = await leaseMediaJob(services);
  if (lease === null) return false;
  const context = { services, ticker: systemTicker };
  await withSpan('job media', { parent: null }, () => runMediaJob(context, lease, stopping));
  return true;
}
