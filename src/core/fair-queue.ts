/** Bounded concurrency in the memory of this process. Keys share the slots fairly. */
import type { QueueLimit } from './semaphore.ts';

export type FairQueue = {
  /**
   * Runs `work` as soon as a slot is free, and settles with its result. Keys take turns, so a key with many waiting
   * calls delays every other key by at most one call. While the queue is full, a call is rejected with `queueFull()`.
   * Exception: if another key has at least two more waiting calls than this key, the newest call of the key with the
   * most waiting calls is rejected instead. If `signal` aborts before `work` starts, the call leaves the queue and is
   * rejected with the signal's reason.
   */
  run<Result>(key: string, signal: AbortSignal | null, work: () => Promise<Result>): Promise<Result>;
  /** How many calls wait for a slot. */
  waiting(): number;
};

type Waiter = { start(): void; reject(reason: unknown): void };

/** At most `slots` calls run at the same time, and at most `maxQueued` calls wait. */
export function createFairQueue(slots: number, { maxQueued, queueFull }: QueueLimit): FairQueue {
  // The order of the keys is the order in which they take turns.
  const queues = new Map<string, Waiter[]>();
  let running = 0;
  let waiting = 0;

  const remove = (key: string, waiter: Waiter): void => {
    const queue = queues.get(key) ?? [];
    const index = queue.indexOf(waiter);
    if (index === -1) return;
    queue.splice(index, 1);
    waiting -= 1;
    if (queue.length === 0) queues.delete(key);
  };

  const makeRoomFor = (key: string): void => {
    const [longest, queue] = findLongest(queues);
    if (queue.length <= (queues.get(key)?.length ?? 0) + 1) throw queueFull();
    const newest = queue.at(-1);
    if (newest === undefined) throw queueFull();
    remove(longest, newest);
    newest.reject(queueFull());
  };

  const acquire = async (key: string, signal: AbortSignal | null): Promise<void> => {
    signal?.throwIfAborted();
    if (running < slots) {
      running += 1;
      return;
    }
    if (waiting >= maxQueued) makeRoomFor(key);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { start: resolve, reject };
    const leave = (): void => {
      remove(key, waiter);
      reject(signal?.reason);
    };
    const queue = queues.get(key) ?? [];
    queue.push(waiter);
    queues.set(key, queue);
    waiting += 1;
    signal?.addEventListener('abort', leave);
    await promise.finally(() => signal?.removeEventListener('abort', leave));
  };

  const release = (): void => {
    const [next] = queues;
    if (next === undefined) {
      running -= 1;
      return;
    }
    const [key, queue] = next;
    const waiter = queue.shift();
    waiting -= 1;
    // Moves the key to the end of the order.
    queues.delete(key);
    if (queue.length > 0) queues.set(key, queue);
    waiter?.start();
  };

  return {
    async run(key, signal, work) {
      await acquire(key, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
    waiting: () => waiting,
  };
}

function findLongest(queues: ReadonlyMap<string, Waiter[]>): [string, Waiter[]] {
  let longest: [string, Waiter[]] = ['', []];
  for (const entry of queues) if (entry[1].length > longest[1].length) longest = entry;
  return longest;
}
