/**
 * Bounded concurrency in the memory of this process: a few calls run at the same time, and the rest wait their turn.
 */

export type QueueLimit = {
  /** How many calls may wait for a slot; 0 means that no call waits. */
  maxQueued: number;
  /** Creates the error for a call that finds the queue full. */
  queueFull: () => Error;
};

export type Semaphore = {
  /**
   * Runs `work` as soon as a slot is free, in the order of the calls, and frees the slot when `work` ends. Resolves or
   * rejects with the result of `work`. If the queue is full, rejects with `queueFull()` without running `work`.
   */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
};

/** One semaphore per key. Each exists only while a call uses it. */
export type KeyedSemaphore<Key> = {
  /** Like `Semaphore.run`, but with the slots and the queue of the given key. */
  run<Result>(key: Key, work: () => Promise<Result>): Promise<Result>;
};

/** At most `slots` calls run at the same time. Without a queue limit, any number of calls may wait. */
export function createSemaphore(slots: number, limit?: QueueLimit): Semaphore {
  const queue: (() => void)[] = [];
  let running = 0;

  const acquire = async (): Promise<void> => {
    if (running < slots) {
      running += 1;
      return;
    }
    if (limit && queue.length >= limit.maxQueued) throw limit.queueFull();
    await new Promise<void>((resolve) => queue.push(resolve));
  };

  const release = (): void => {
    // The slot passes to the first call in the queue, so that no later call can overtake it.
    const next = queue.shift();
    if (next) next();
    else running -= 1;
  };

  return {
    async run(work) {
      await acquire();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

/** At most `slots` calls per key run at the same time. Other keys do not affect them. */
export function createKeyedSemaphore<Key>(slots: number, limit?: QueueLimit): KeyedSemaphore<Key> {
  const inUse = new Map<Key, { semaphore: Semaphore; calls: number }>();
  return {
    async run(key, work) {
      const entry = inUse.get(key) ?? { semaphore: createSemaphore(slots, limit), calls: 0 };
      inUse.set(key, entry);
      entry.calls += 1;
      try {
        return await entry.semaphore.run(work);
      } finally {
        entry.calls -= 1;
        if (entry.calls === 0) inUse.delete(key);
      }
    },
  };
}
