/** The copier of this process. It leases files that are due and copies a few of them at a time. */
import type { PgBoss } from 'pg-boss';
import { systemTicker } from '../../../core/ticker.ts';
import { SECOND_MS } from '../../../core/time.ts';
import { withSpan } from '../../../core/tracing.ts';
import { listenTo, startPollLoop } from '../../../jobs/poll-loop.ts';
import { COPY_CHANNEL, leaseCopies } from './copy-queue.ts';
import { type CopyContext, copyRecording } from './copy-recording.ts';
import { createFileFetcher } from './fetch-file.ts';

/** How many files one process copies concurrently: enough for four users at their limit. */
const MAX_CONCURRENT = 12;
/** How many of these slots are reserved for files whose URLs expire soon. */
const URGENT_SLOTS = 4;
/**
 * NOTIFY wakes the copier for new files. Polling finds files that are due again, or whose notification was lost.
 */
const POLL_EVERY_MS = 5 * SECOND_MS;

export type Copier = {
  /** Stops leasing files, aborts the running copies and releases their leases. */
  stop(): Promise<void>;
};

/**
 * Starts a copier, which copies recordings from providers into the object store. Any number of processes may run one.
 */
export async function startCopier({
  boss,
  services,
  onCopy,
}: Pick<CopyContext, 'services' | 'onCopy'> & { boss: PgBoss }): Promise<Copier> {
  const fetcher = createFileFetcher(services.addressGuard);
  const context = { services, fetcher, ticker: systemTicker, onCopy };
  const stopping = new AbortController();
  const running = new Set<StartedCopy>();

  const track = (copy: StartedCopy): void => {
    running.add(copy);
    copy.ended.finally(() => {
      running.delete(copy);
      loop.wake();
    });
  };
  const loop = startPollLoop({
    name: 'copier',
    async poll() {
      const notUrgent = [...running].filter(({ isUrgent }) => !isUrgent).length;
      const free = {
        max: MAX_CONCURRENT - running.size,
        maxNotUrgent: Math.max(0, MAX_CONCURRENT - URGENT_SLOTS - notUrgent),
      };
      for (const copy of await startDueCopies(context, free, stopping.signal)) track(copy);
      return POLL_EVERY_MS;
    },
    log: services.log,
  });
  const stopListening = await listenTo(boss, COPY_CHANNEL, loop.wake, services.log);
  return {
    async stop() {
      await stopListening();
      await loop.stop();
      stopping.abort(new Error('The copier is stopping'));
      await Promise.all([...running].map(({ ended }) => ended));
      await fetcher.close();
    },
  };
}

/** `ended` resolves when the result is recorded. */
export type StartedCopy = { isUrgent: boolean; ended: Promise<void> };

/** Leases files that are due and starts to copy them. */
export async function startDueCopies(
  context: CopyContext,
  { max, maxNotUrgent }: { max: number; maxNotUrgent: number },
  stopping: AbortSignal,
): Promise<StartedCopy[]> {
  if (max === 0) return [];
  const leases = await leaseCopies(context.services, max, maxNotUrgent);
  return leases.map((lease) => ({
    isUrgent: lease.isUrgent,
    ended: withSpan('job recordings.copy', { parent: null }, () => copyRecording(context, lease, stopping)),
  }));
}
