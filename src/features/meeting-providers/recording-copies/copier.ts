/** The copier of this process: it takes what is due, a few files at a time. */
import type { PgBoss } from 'pg-boss';
import { SECOND_MS } from '../../../core/time.ts';
import { listenTo, startPollLoop } from '../../../jobs/poll-loop.ts';
import type { Services } from '../../../services.ts';
import { COPY_CHANNEL, leaseCopies } from './copy-queue.ts';
import { type CopyTimes, copyRecording } from './copy-recording.ts';
import { createFileFetcher } from './fetch-file.ts';

/** Files that one process copies at a time: enough for four workspaces that take all that one of them may. */
const MAX_AT_ONCE = 12;
/** NOTIFY wakes the copier for what is new; this is for what is due again, and for the wake-up that was lost. */
const LOOK_EVERY_MS = 5 * SECOND_MS;

export type CopierOptions = {
  boss: PgBoss;
  services: Services;
  /** For tests; in milliseconds. */
  headersMs?: number;
  idleMs?: number;
  times?: Partial<CopyTimes>;
};

export type Copier = {
  /** Claims nothing more, breaks off what is under way and gives it back. */
  stop(): Promise<void>;
};

/** Starts copying recordings from providers into the store. Any number of processes may. */
export async function startCopier({ boss, services, times = {}, ...timeouts }: CopierOptions): Promise<Copier> {
  const fetcher = createFileFetcher(services.addressGuard, timeouts);
  const needs = { services, fetcher, times };
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  const begin = (copy: Promise<void>): void => {
    underWay.add(copy);
    copy.finally(() => {
      underWay.delete(copy);
      passes.wake();
    });
  };
  const passes = startPollLoop({
    name: 'copier',
    async poll() {
      const free = MAX_AT_ONCE - underWay.size;
      if (free === 0) return LOOK_EVERY_MS;
      for (const claim of await leaseCopies(services, free)) begin(copyRecording(needs, claim, stopping.signal));
      return LOOK_EVERY_MS;
    },
    log: services.log,
  });
  const endListening = await listenTo(boss, COPY_CHANNEL, passes.wake, services.log);
  return {
    async stop() {
      await endListening();
      await passes.stop();
      stopping.abort(new Error('The copier stops'));
      await Promise.all(underWay);
      await fetcher.close();
    },
  };
}
