/**
 * Shares the connections of a pool fairly. No caller and no locked table can occupy all of them. This is not a
 * `Limiter` (src/core/limiter.ts), because limits apply only to some uses: those of an owner while connections are
 * scarce, and none to a transaction that needs a second connection, which also overtakes its owner's other calls.
 */
import { type CallBounds, endWait, startWait, waitedMs } from '../core/call-bounds.ts';
import { DatabaseTimeoutError, HungUpError, TooManyCallsError } from './refused-calls.ts';
import { getTimeLimit } from './time-limits.ts';

export type GateLimits = {
  /** How long a call may wait for a connection, in milliseconds. */
  queueMs: number;
  /** How long all waits of a request may take in total, in milliseconds. */
  requestMs: number;
};

/** How many connections are in use, and how many calls wait for one. */
export type GateUse = { inUse: number; waiting: number };

export type ConnectionGate = {
  /**
   * Waits for the right to use a connection, for one statement or for a transaction, and returns the function that
   * releases it. `call` is undefined for background work. Rejects if the wait takes too long, and with
   * TooManyCallsError if the owner has too many calls waiting. A call that has not begun, or only reads, is also
   * rejected when its caller hangs up, with HungUpError.
   */
  acquire(call: CallBounds | undefined, use: 'statement' | 'transaction'): Promise<() => void>;
  use(): GateUse;
};

type Use = Parameters<ConnectionGate['acquire']>[1];

type Wanted = { key: string; call: CallBounds | undefined; use: Use };

type Waiter = Wanted & { grant(): void };

/**
 * How many connections the calls of one user, participant or network may use at once. While more than this many
 * connections are free, they may use further ones.
 */
const MAX_PER_OWNER = 4;
/** The share of the connections that the calls of one feature, or the background work, may use at once. */
const MAX_SHARE = 0.7;
/** The share that the calls of guests may use at once. Anyone can be many guests: the rest is for signed-in users. */
const MAX_GUEST_SHARE = 0.5;
/** How many calls of one owner may wait for a connection. */
const MAX_QUEUED_PER_OWNER = 200;
const BACKGROUND = 'background';
const UNIDENTIFIED = 'unidentified';
const GUESTS = 'guests';

export function createConnectionGate(slots: number, limits: GateLimits): ConnectionGate {
  const maxPerOwner = Math.max(1, Math.min(MAX_PER_OWNER, Math.floor(slots / 2)));
  const maxPerFeature = Math.max(1, Math.floor(slots * MAX_SHARE));
  const maxOfGuests = Math.max(1, Math.floor(slots * MAX_GUEST_SHARE));
  const inUse = new Map<string, number>();
  /** The waiters of each owner. Owners take turns: the one that was served last is at the end. */
  const queues = new Map<string, Waiter[]>();
  let total = 0;

  const count = (key: string, change: number): void => {
    const next = (inUse.get(key) ?? 0) + change;
    if (next === 0) inUse.delete(key);
    else inUse.set(key, next);
  };

  const mayRun = ({ key, call }: Wanted): boolean => {
    if (total >= slots) return false;
    // A transaction that needs a second connection must not wait for other calls of its owner that do the same.
    if (call !== undefined && call.transactions > 0) return true;
    if (call === undefined) return (inUse.get(BACKGROUND) ?? 0) < maxPerFeature;
    const isScarce = slots - total <= maxPerOwner;
    if (key !== UNIDENTIFIED && isScarce && (inUse.get(key) ?? 0) >= maxPerOwner) return false;
    if (isGuest(key) && (inUse.get(GUESTS) ?? 0) >= maxOfGuests) return false;
    return (inUse.get(featureKey(call)) ?? 0) < maxPerFeature;
  };

  const take = ({ key, call, use }: Wanted): (() => void) => {
    const keys = [key, ...(call ? [featureKey(call)] : []), ...(isGuest(key) ? [GUESTS] : [])];
    total += 1;
    for (const one of keys) count(one, 1);
    if (call) {
      call.acquired += 1;
      if (use === 'transaction') call.transactions += 1;
    }
    return () => {
      total -= 1;
      for (const one of keys) count(one, -1);
      if (call && use === 'transaction') call.transactions -= 1;
      grantNext();
    };
  };

  const remove = (waiter: Waiter): void => {
    const queue = queues.get(waiter.key) ?? [];
    const index = queue.indexOf(waiter);
    // The connection may have been granted in the same turn of the event loop in which the caller hung up.
    if (index === -1) return;
    queue.splice(index, 1);
    if (queue.length === 0) queues.delete(waiter.key);
  };

  const grantNext = (): void => {
    for (const [key, queue] of queues) {
      if (total >= slots) return;
      const waiter = queue.find(mayRun);
      if (waiter === undefined) continue;
      remove(waiter);
      waiter.grant();
      if (queues.delete(key) && queue.length > 0) queues.set(key, queue);
    }
  };

  const wait = async ({ key, call, use }: Wanted): Promise<() => void> => {
    const queue = queues.get(key) ?? [];
    if (call?.owner && queue.length >= MAX_QUEUED_PER_OWNER) throw new TooManyCallsError();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiter: Waiter = { key, call, use, grant: () => resolve(take(waiter)) };
    queues.set(key, queue);
    queue.push(waiter);
    const giveUp = (error: Error): void => {
      remove(waiter);
      reject(error);
    };
    const isBounded = call !== undefined && getTimeLimit() === 'request';
    const ms = isBounded ? Math.min(limits.queueMs, limits.requestMs - waitedMs(call.waited)) : limits.queueMs;
    const timer = setTimeout(() => giveUp(new DatabaseTimeoutError('No connection was free in time')), Math.max(0, ms));
    const onHangUp = (): void => giveUp(new HungUpError());
    const signal = call && mayBeDropped(call) ? call.hungUp : undefined;
    signal?.addEventListener('abort', onHangUp);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onHangUp);
    }
  };

  return {
    async acquire(call, use) {
      const key = call === undefined ? BACKGROUND : (call.owner ?? UNIDENTIFIED);
      if (call && mayBeDropped(call) && call.hungUp.aborted) throw new HungUpError();
      const wanted = { key, call, use };
      const isFirst = !queues.has(key) || (call !== undefined && call.transactions > 0);
      if (isFirst && mayRun(wanted)) return take(wanted);
      if (call === undefined) return wait(wanted);
      startWait(call.waited);
      const since = performance.now();
      return wait(wanted).finally(() => {
        endWait(call.waited);
        call.queuedMs += performance.now() - since;
      });
    },
    use: () => ({ inUse: total, waiting: [...queues.values()].flat().length }),
  };
}

/** Whether the owner of a call has no account: a network or a participant. */
function isGuest(key: string): boolean {
  return /^(?:network|participant):/.test(key);
}

function featureKey({ feature }: CallBounds): string {
  return `feature:${feature}`;
}

/** A call that writes is not abandoned between its statements. */
function mayBeDropped({ isRead, acquired }: CallBounds): boolean {
  return isRead || acquired === 0;
}
