/** The media worker of this process: it leases files that are due, and looks at one after another. */
import { withSpan } from '../../core/tracing.ts';
import type { WakeUps } from '../../jobs/wake-ups.ts';
import { runDue, startWorker, type Work, type Worker } from '../../jobs/worker.ts';
import { MEDIA_CHANNEL } from '../../media/add-media-job.ts';
import type { Services } from '../../services.ts';
import { MEDIA_LEASE_MS, type MediaLease, mediaJobs } from './media-queue.ts';
import { runMediaJob } from './run-media-job.ts';

/** Starts a worker. Any number of processes may run one. `stop` releases the file that it looks at. */
export function startMediaWorker({ services, wakeUps }: { services: Services; wakeUps: WakeUps }): Worker {
  const worker = startWorker(toWork(services), services);
  wakeUps.on(MEDIA_CHANNEL, worker.wake);
  return worker;
}

/** Leases a file that is due, and looks at it. Resolves with false if no file is due. */
export async function runDueMediaJob(services: Services, stopping: AbortSignal): Promise<boolean> {
  return (await runDue(toWork(services, stopping), services)) > 0;
}

function toWork(services: Services, stopping?: AbortSignal): Work<MediaLease> {
  const { sql } = services.db;
  return {
    name: 'media',
    max: 1,
    leaseMs: MEDIA_LEASE_MS,
    lease: (limits) => mediaJobs.lease(sql, limits),
    renew: (held, leasedUntil) => mediaJobs.renew(sql, held, leasedUntil),
    findNextDue: () => mediaJobs.findNextDue(sql),
    run: (lease, signal) => {
      const signals = stopping === undefined ? signal : AbortSignal.any([signal, stopping]);
      return withSpan('job media', { parent: null }, () => runMediaJob(services, lease, signals));
    },
  };
}
