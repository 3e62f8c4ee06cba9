/**
 * Limits what is in use at the same time in the memory of this process: slots, or bytes. How many calls come in a time
 * is limited by the token buckets in src/auth/rate-limits.ts.
 */
import { serviceUnavailable } from './errors.ts';

export type LimiterOptions<Key> = {
  /** How much may be in use at once. Default: no limit. */
  max?: number;
  /**
   * How much one key may use at once. `rest`: no more than is then left for all others. So one key alone gets at most
   * half, and however many keys take as much as they can, something is left for the next one (A. Choudhury and E.
   * Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998). Default: no limit.
   */
  maxPerKey?: number | 'rest';
  /** How many calls of `run` may wait in total. Default: none waits. */
  maxQueued?: number;
  /** How many calls of one key may wait. Default: no limit of its own. */
  maxQueuedPerKey?: number;
  /** How long a call may wait, in milliseconds. Default: until its signal aborts. */
  maxWaitMs?: number;
  /** Creates the error for a call that is refused. Default: 503. */
  full?(key: Key): Error;
};

/** `weight`: how much a call uses; default: 1. If `signal` aborts before the call starts, it is not made. */
export type Use = { weight?: number; signal?: AbortSignal | null };

export type Limiter<Key> = {
  /** Takes `weight`, and returns the function that releases it, once. Never waits. Throws `full(key)`. */
  take(key: Key, weight?: number): () => void;
  /** Like `take`, but returns null if there is not enough. */
  tryTake(key: Key, weight?: number): (() => void) | null;
  /**
   * Runs `work` as soon as there is enough for it, and settles with its result. Calls of a key start in their order,
   * and keys take turns, so a key with many waiting calls delays every other key by at most one call. Rejects with
   * `full(key)` if the queue is full or the wait is too long. Exception: if another key has at least two more waiting
   * calls than this key, the newest call of the key with the most waiting calls is rejected instead. If `signal` aborts
   * before `work` starts, rejects with its reason.
   */
  run<Result>(key: Key, work: () => Promise<Result>, use?: Use): Promise<Result>;
  /** How much the key uses. */
  heldBy(key: Key): number;
  /** How many calls wait. */
  waiting(): number;
};

type Waiter = { weight: number; start(release: () => void): void; reject(reason: unknown): void };

export function createLimiter<Key>({
  max = Number.POSITIVE_INFINITY,
  maxPerKey = Number.POSITIVE_INFINITY,
  maxQueued = 0,
  maxQueuedPerKey = Number.POSITIVE_INFINITY,
  maxWaitMs,
  full = () => serviceUnavailable('The service is busy: try again in a moment', 1),
}: LimiterOptions<Key>): Limiter<Key> {
  const held = new Map<Key, number>();
  // The order of the keys is the order in which they take turns.
  const queues = new Map<Key, Waiter[]>();
  let total = 0;
  let waiting = 0;
  /** Whether the next waiter in the order needs more than is left of `max`. Nobody may overtake it. */
  let isBlocked = false;

  const heldBy = (key: Key): number => held.get(key) ?? 0;

  const mayHold = (key: Key, weight: number): boolean =>
    heldBy(key) + weight <= (maxPerKey === 'rest' ? max - total - weight : maxPerKey);

  /** Whether a call fits when nothing else is in use. One that does not would wait forever. */
  const fitsAlone = (weight: number): boolean =>
    weight <= max && weight <= (maxPerKey === 'rest' ? max - weight : maxPerKey);

  const change = (key: Key, weight: number): void => {
    total += weight;
    const sum = heldBy(key) + weight;
    if (sum === 0) held.delete(key);
    else held.set(key, sum);
  };

  const occupy = (key: Key, weight: number): (() => void) => {
    change(key, weight);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      change(key, -weight);
      if (waiting > 0) startWaiting();
    };
  };

  /** What is released passes to the next waiters at once, so that no later call can overtake them. */
  const startWaiting = (): void => {
    isBlocked = false;
    // A key that is moved to the end is visited again.
    for (const [key, queue] of queues) {
      const [waiter] = queue;
      if (waiter === undefined) continue;
      isBlocked = total + waiter.weight > max;
      if (isBlocked) return;
      if (!mayHold(key, waiter.weight)) continue;
      remove(key, waiter);
      if (queues.delete(key)) queues.set(key, queue);
      waiter.start(occupy(key, waiter.weight));
    }
  };

  const remove = (key: Key, waiter: Waiter): boolean => {
    const queue = queues.get(key) ?? [];
    const index = queue.indexOf(waiter);
    if (index === -1) return false;
    queue.splice(index, 1);
    waiting -= 1;
    if (queue.length === 0) queues.delete(key);
    return true;
  };

  const makeRoomFor = (key: Key): void => {
    const own = queues.get(key)?.length ?? 0;
    if (own >= maxQueuedPerKey) throw full(key);
    if (waiting < maxQueued) return;
    const [longest, queue] = findLongest(queues) ?? [key, []];
    const newest = queue.at(-1);
    if (newest === undefined || queue.length <= own + 1) throw full(key);
    remove(longest, newest);
    newest.reject(full(longest));
  };

  const tryTake = (key: Key, weight = 1): (() => void) | null => {
    if (isBlocked || queues.has(key) || total + weight > max || !mayHold(key, weight)) return null;
    return occupy(key, weight);
  };

  const wait = async (key: Key, weight: number, signal: AbortSignal | null): Promise<() => void> => {
    makeRoomFor(key);
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiter: Waiter = { weight, start: resolve, reject };
    const leave = (reason: unknown): void => {
      if (remove(key, waiter)) startWaiting();
      reject(reason);
    };
    const queue = queues.get(key) ?? [];
    queue.push(waiter);
    queues.set(key, queue);
    waiting += 1;
    isBlocked ||= total + weight > max;
    const onAbort = (): void => leave(signal?.reason);
    signal?.addEventListener('abort', onAbort);
    const timer = maxWaitMs === undefined ? undefined : setTimeout(() => leave(full(key)), maxWaitMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  };

  return {
    take(key, weight) {
      const release = tryTake(key, weight);
      if (release === null) throw full(key);
      return release;
    },
    tryTake,
    async run(key, work, { weight = 1, signal = null } = {}) {
      signal?.throwIfAborted();
      if (!fitsAlone(weight)) throw full(key);
      const release = tryTake(key, weight) ?? (await wait(key, weight, signal));
      try {
        return await work();
      } finally {
        release();
      }
    },
    heldBy,
    waiting: () => waiting,
  };
}

function findLongest<Key>(queues: ReadonlyMap<Key, Waiter[]>): [Key, Waiter[]] | undefined {
  let longest: [Key, Waiter[]] | undefined;
  for (const entry of queues) if (entry[1].length > (longest?.[1].length ?? 0)) longest = entry;
  return longest;
}

/** Takes one of each, and returns the function that releases all, once. Throws the error of the first that is full. */
export function takeAll(takes: readonly (() => () => void)[]): () => void {
  const releases: (() => void)[] = [];
  const releaseAll = (): void => {
    for (const release of releases) release();
  };
  try {
    for (const take of takes) releases.push(take());
  } catch (error) {
    releaseAll();
    throw error;
  }
  return releaseAll;
}

/** Returns a part of the slots, and at least one. */
export function shareOf(slots: number, part: number): number {
  return Math.max(1, Math.floor(slots * part));
}
