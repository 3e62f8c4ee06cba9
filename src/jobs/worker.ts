/**
 * Does the work of a queue (`lease-queue.ts`): leases rows that are due, renews their leases while the work is done,
 * and leases more when it has ended. Any number of processes may run a worker for the same queue.
 */
import type { Log } from '../core/log.ts';
import { systemTicker, type Ticker } from '../core/ticker.ts';
import { type Clock, SAFETY_POLL_MS, SECOND_MS } from '../core/time.ts';
import { startPollLoop } from './poll-loop.ts';

/**
 * Another process has the lease, the row was deleted, or the attempt has ended: this process must stop its work, and
 * record nothing.
 */
export class LeaseLost extends Error {
  constructor(message = 'Another process has the lease') {
    super(message);
  }
}

/** The process stops: the work must end, and its lease be released. */
export class WorkerStopping extends Error {
  constructor() {
    super('The worker is stopping');
  }
}

export type Work<Held> = {
  /** The name in the log. */
  name: string;
  /** How many rows this process works on at a time. */
  max: number;
  /** How long a lease lasts. If a process is killed, another one gets its rows after this time. */
  leaseMs: number;
  /** Leases at most `max` due rows until `leasedUntil`. `held` are the leases of this process. */
  lease(limits: { now: Date; leasedUntil: Date; max: number }, held: readonly Held[]): Promise<readonly Held[]>;
  /** Extends leases, and resolves with those that this process still holds. */
  renew(held: readonly Held[], leasedUntil: Date): Promise<readonly Held[]>;
  /** When the next row can be leased; null if none waits. */
  findNextDue(): Promise<Date | null>;
  /**
   * Does the work on a row and records its result. `signal` is aborted with `LeaseLost` or `WorkerStopping`. After an
   * error, which is logged, the row is leased again when its lease has expired.
   */
  run(lease: Held, signal: AbortSignal): Promise<void>;
};

export type WorkerOptions = { clock: Clock; log: Log; ticker?: Ticker; heartbeatMs?: number };

export type Worker = {
  /** Looks for due rows now. */
  wake(): void;
  /** Leases no more rows, tells the running work to stop, and resolves when all of it has ended. */
  stop(): Promise<void>;
};

/** The pause if rows are due that cannot be leased now: their turn has not come, or another process is leasing them. */
const MIN_PAUSE_MS = SECOND_MS;
/** How many heartbeats there are within a lease, so that a failed one does not lose it. */
const HEARTBEATS = 4;

/** Starts a worker. */
export function startWorker<Held extends object>(work: Work<Held>, options: WorkerOptions): Worker {
  const { clock, log } = options;
  const runs = createRuns(work, options);
  const loop = startPollLoop({
    name: work.name,
    async poll() {
      if (runs.free() === 0) return SAFETY_POLL_MS;
      if ((await runs.start(() => loop.wake())) > 0) return 0;
      return toPause(await work.findNextDue(), clock);
    },
    log,
  });
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      runs.abort(new WorkerStopping());
      await runs.end();
    },
  };
}

/** Leases the rows that are due, and resolves with their number when the work on them has ended. */
export async function runDue<Held extends object>(work: Work<Held>, options: WorkerOptions): Promise<number> {
  const runs = createRuns(work, options);
  try {
    return await runs.start();
  } finally {
    await runs.end();
  }
}

/** Returns how long to wait for a row that is due at `dueAt`. */
export function toPause(dueAt: Date | null, clock: Clock): number {
  if (dueAt === null) return SAFETY_POLL_MS;
  return Math.min(Math.max(dueAt.getTime() - clock.now().getTime(), MIN_PAUSE_MS), SAFETY_POLL_MS);
}

type Run = { ended: Promise<void>; abort: AbortController };

/** The work that is under way in this process. Its leases are renewed here, and nowhere else. */
function createRuns<Held extends object>(
  work: Work<Held>,
  { clock, log, ticker = systemTicker, heartbeatMs = work.leaseMs / HEARTBEATS }: WorkerOptions,
) {
  const running = new Map<Held, Run>();
  let renewing = Promise.resolve();
  let isRenewing = false;
  const leaseEnd = (): Date => new Date(clock.now().getTime() + work.leaseMs);
  const free = (): number => work.max - running.size;

  const renew = async (): Promise<void> => {
    const held = [...running.keys()];
    const renewed = new Set(await work.renew(held, leaseEnd()));
    for (const lease of held) if (!renewed.has(lease)) running.get(lease)?.abort.abort(new LeaseLost());
  };
  const stopHeartbeat = ticker.every(heartbeatMs, () => {
    if (isRenewing || running.size === 0) return;
    isRenewing = true;
    renewing = renew()
      .catch((error: unknown) => log.warn({ err: error, work: work.name }, 'Failed to renew leases'))
      .finally(() => {
        isRenewing = false;
      });
  });

  const run = async (lease: Held, signal: AbortSignal): Promise<void> => {
    try {
      await work.run(lease, signal);
    } catch (error) {
      if (!(error instanceof LeaseLost)) log.error({ err: error, work: work.name }, 'Failed to record work');
    }
  };

  return {
    free,
    /** Leases rows and starts the work on them. Calls `onEnd` after each. Resolves with their number. */
    async start(onEnd?: () => void): Promise<number> {
      const limits = { now: clock.now(), leasedUntil: leaseEnd(), max: free() };
      const leases = await work.lease(limits, [...running.keys()]);
      for (const lease of leases) {
        const abort = new AbortController();
        const ended = run(lease, abort.signal).finally(() => {
          running.delete(lease);
          onEnd?.();
        });
        running.set(lease, { ended, abort });
      }
      return leases.length;
    },
    abort(reason: Error): void {
      for (const { abort } of running.values()) abort.abort(reason);
    },
    async end(): Promise<void> {
      await Promise.all([...running.values()].map(({ ended }) => ended));
      stopHeartbeat();
      await renewing;
    },
  };
}
