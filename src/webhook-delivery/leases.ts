/**
 * The leases that this process holds. Heartbeats renew a lease until it is released. It occupies a slot until its
 * request has ended.
 */
import type { Log } from '../core/log.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import type { FairSlots } from './fair-slots.ts';
import type { DeliveryQueue, Lane, Lease } from './queue.ts';

export type Leases = {
  /**
   * Holds leases, and returns those that were not held. A job may be leased again although its attempt is in flight:
   * its lease has expired while the database could not be reached.
   */
  add(leases: readonly Lease[], lane: Lane): Lease[];
  /** Frees the slot of this lease for another request. The lease itself is held until its attempt is recorded. */
  endRequest(lease: Lease): void;
  /** How many leases this process holds. */
  count(): number;
  /**
   * Stops the heartbeats of these leases and frees the slots that they still occupy. A job that is not complete goes
   * to another worker.
   */
  release(leases: readonly Lease[]): void;
  /** Resolves when no lease is left, or after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
  /** Stops all heartbeats. */
  stop(): Promise<void>;
};

export type LeasesOptions = {
  queue: Pick<DeliveryQueue, 'renew'>;
  slots: FairSlots;
  /** Called when slots may have become free. */
  onRelease: () => void;
  log: Log;
};

/** A quarter of the time after which a lease expires if it is not renewed. */
const HEARTBEAT_MS = 2_500;

export function startLeases({ queue, slots, onRelease, log }: LeasesOptions): Leases {
  const held = new Map<string, Lease>();
  let onEmpty = (): void => {};

  const heartbeat = startPollLoop({
    name: 'heartbeat',
    async poll() {
      await queue.renew([...held.values()]);
      return HEARTBEAT_MS;
    },
    log,
  });

  return {
    add(leases, lane) {
      const added = leases.filter(({ id }) => !held.has(id));
      for (const lease of added) {
        held.set(lease.id, lease);
        slots.acquire(lease.id, lane, lease.data.workspaceId);
      }
      return added;
    },
    endRequest({ id }) {
      slots.endRequest(id);
      onRelease();
    },
    count: () => held.size,
    release(leases) {
      for (const { id } of leases) {
        held.delete(id);
        slots.release(id);
      }
      if (held.size === 0) onEmpty();
      onRelease();
    },
    drain(timeoutMs) {
      if (held.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        onEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    stop: heartbeat.stop,
  };
}
