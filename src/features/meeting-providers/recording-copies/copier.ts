/** The copier of this process. It leases files that are due and copies a few of them at a time. */
import { systemTicker } from '../../../core/ticker.ts';
import { withSpan } from '../../../core/tracing.ts';
import type { WakeUps } from '../../../jobs/wake-ups.ts';
import { startWorker } from '../../../jobs/worker.ts';
import { COPY_CHANNEL, COPY_LEASE_MS, type CopyLease, findNextCopy, leaseCopies } from './copy-queue.ts';
import { type CopyContext, copyRecording } from './copy-recording.ts';
import { createFileFetcher } from './fetch-file.ts';

/** How many files one process copies concurrently: enough for four users at their limit. */
const MAX_CONCURRENT = 12;
/** How many of these slots are reserved for files whose URLs expire soon. */
const URGENT_SLOTS = 4;

export type Copier = {
  /** Stops leasing files, aborts the running copies and releases their leases. */
  stop(): Promise<void>;
};

/**
 * Starts a copier, which copies recordings from providers into the object store. Any number of processes may run one.
 */
export function startCopier({
  wakeUps,
  services,
  onCopy,
}: Pick<CopyContext, 'services' | 'onCopy'> & { wakeUps: WakeUps }): Copier {
  const fetcher = createFileFetcher(services.addressGuard);
  const context = { services, fetcher, ticker: systemTicker, onCopy };
  const worker = startWorker<CopyLease>(
    {
      name: 'copier',
      max: MAX_CONCURRENT,
      leaseMs: COPY_LEASE_MS,
      lease({ max }, held) {
        const notUrgent = held.filter(({ isUrgent }) => !isUrgent).length;
        return leaseCopies(services, max, Math.max(0, MAX_CONCURRENT - URGENT_SLOTS - notUrgent));
      },
      // The monitor of a transfer renews its lease, because the answer says how many others wait for a slot.
      renew: async (held) => held,
      findNextDue: () => findNextCopy(services.db),
      run: (lease, signal) =>
        withSpan('job recordings.copy', { parent: null }, () => copyRecording(context, lease, signal)),
    },
    services,
  );
  wakeUps.on(COPY_CHANNEL, worker.wake);
  return {
    async stop() {
      await worker.stop();
      await fetcher.close();
    },
  };
}
