/** How much is in use at once, in which order the others follow, who is refused, and what is released. */
import { describe, expect, test } from 'vitest';
import { createLimiter, takeAll } from '../../src/core/limiter.ts';

const full = (key: string | number): Error => new Error(`full: ${key}`);
const unbounded = { maxQueued: Number.POSITIVE_INFINITY, full };

/** Work that ends on request, and the order in which it started. */
function manualWork() {
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    started,
    work: (name: string) => () => {
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      started.push(name);
      return end.promise;
    },
    promiseOf: (name: string) => ends.get(name)?.promise,
    async end(name: string) {
      ends.get(name)?.resolve(name);
      await settled();
    },
    async fail(name: string) {
      ends.get(name)?.reject(new Error(`${name} failed`));
      await settled();
    },
  };
}

/** Waits until every reaction to a settled promise has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A limiter with one slot, which `busy` occupies until `start` is called, and the order in which calls then run. */
function createQueue(maxQueued = 100) {
  const limiter = createLimiter({ max: 1, maxQueued, full });
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const busy = limiter.run('busy', () => gate.promise);
  const call = (key: string, name: string, signal: AbortSignal | null = null): Promise<string> =>
    limiter
      .run(
        key,
        async () => {
          order.push(name);
          return name;
        },
        { signal },
      )
      .catch((error: Error) => `${name}: ${error.message}`);
  const start = (): Promise<void> => {
    gate.resolve();
    return busy;
  };
  return { limiter, order, call, start };
}

describe('slots', () => {
  test('run as many calls as there are, and the others in their order', async () => {
    const limiter = createLimiter({ max: 2, ...unbounded });
    const { started, work, end } = manualWork();
    const results = ['a', 'b', 'c', 'd'].map((name) => limiter.run('one', work(name)));
    await settled();
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('are freed by work that fails, and its error is passed on', async () => {
    const limiter = createLimiter({ max: 1, ...unbounded });
    const { started, work, end, fail } = manualWork();
    const rejection = expect(limiter.run('one', work('a'))).rejects.toThrow('a failed');
    const next = limiter.run('one', work('b'));
    await settled();
    await fail('a');
    await rejection;
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(await next).toBe('b');
  });

  test('are freed by work that throws before it returns a promise', async () => {
    const limiter = createLimiter({ max: 1, full });
    const throws = (): Promise<never> => {
      throw new Error('at once');
    };
    await expect(limiter.run('one', throws)).rejects.toThrow('at once');
    expect(await limiter.run('one', async () => 'next')).toBe('next');
  });

  test('are not taken by a call that comes while they are passed on', async () => {
    const limiter = createLimiter({ max: 1, ...unbounded });
    const { started, work, end, promiseOf } = manualWork();
    const first = limiter.run('one', work('a'));
    const queued = limiter.run('one', work('b'));
    await settled();
    // Runs right after the limiter has seen the end of the first call, and before the second call continues.
    const late = promiseOf('a')?.then(() => limiter.run('two', work('c')));
    await end('a');
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('c');
    await Promise.all([first, queued, late]);
  });

  test('are never exceeded while calls of many keys begin and end at the same time', async () => {
    const limiter = createLimiter<number>({ max: 5, maxPerKey: 2, ...unbounded });
    const running = new Map<number, number>();
    let [total, most, maxOfKey] = [0, 0, 0];
    const chain = async (key: number): Promise<void> => {
      for (let index = 0; index < 50; index += 1)
        await limiter.run(key, async () => {
          total += 1;
          running.set(key, (running.get(key) ?? 0) + 1);
          most = Math.max(most, total);
          maxOfKey = Math.max(maxOfKey, running.get(key) ?? 0);
          await (index % 3 === 0 ? settled() : Promise.resolve());
          running.set(key, (running.get(key) ?? 0) - 1);
          total -= 1;
        });
    };
    await Promise.all(Array.from({ length: 28 }, (_, index) => chain(index % 7)));
    expect([most, maxOfKey, limiter.waiting(), limiter.heldBy(0)]).toEqual([5, 2, 0, 0]);
  });
});

describe('keys', () => {
  test('take turns, and the calls of a key run in their order', async () => {
    const { call, order, start } = createQueue();
    const calls = ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2'].map((name) => call(name.charAt(0), name));
    await start();
    await Promise.all(calls);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  test('have their own slots and their own queue', async () => {
    const limiter = createLimiter<string>({ maxPerKey: 1, ...unbounded, maxQueuedPerKey: 1 });
    const { started, work, end } = manualWork();
    const results = ['x1', 'x2', 'y1', 'y2'].map((name) => limiter.run(name.slice(0, 1), work(name)));
    await settled();
    expect(started).toEqual(['x1', 'y1']);
    await expect(limiter.run('x', work('x3'))).rejects.toThrow('full: x');
    await end('x1');
    expect(started).toEqual(['x1', 'y1', 'x2']);
    results.push(limiter.run('x', work('x4')));
    await settled();
    expect(started).toEqual(['x1', 'y1', 'x2']);
    for (const name of ['x2', 'x4', 'y1', 'y2']) await end(name);
    expect(await Promise.all(results)).toEqual(['x1', 'x2', 'y1', 'y2', 'x4']);
  });

  test('without a queue have a second call refused at once, and one accepted after the first has ended', async () => {
    const limiter = createLimiter<number>({ maxPerKey: 1, full });
    const { work, end } = manualWork();
    const first = limiter.run(7, work('a'));
    await expect(limiter.run(7, work('b'))).rejects.toThrow('full: 7');
    await end('a');
    expect(await first).toBe('a');
    expect(await limiter.run(7, async () => 'again')).toBe('again');
  });

  test('do not wait for the slots of another key that waits for its own', async () => {
    const limiter = createLimiter<string>({ max: 3, maxPerKey: 1, ...unbounded });
    const { started, work, end } = manualWork();
    const calls = ['a1', 'a2', 'b1', 'c1', 'd1'].map((name) => limiter.run(name.charAt(0), work(name)));
    await settled();
    expect(started).toEqual(['a1', 'b1', 'c1']);
    await end('b1');
    expect(started).toEqual(['a1', 'b1', 'c1', 'd1']);
    for (const name of ['a1', 'c1', 'd1', 'a2']) await end(name);
    await Promise.all(calls);
  });
});

describe('weights', () => {
  test('count together, and a heavy call is not overtaken by light ones', async () => {
    const limiter = createLimiter<string>({ max: 10, ...unbounded });
    const { started, work, end } = manualWork();
    const calls = [
      limiter.run('a', work('a6'), { weight: 6 }),
      limiter.run('b', work('b8'), { weight: 8 }),
      limiter.run('c', work('c1'), { weight: 1 }),
    ];
    await settled();
    expect([started, limiter.heldBy('a'), limiter.tryTake('d', 1)]).toEqual([['a6'], 6, null]);
    await end('a6');
    expect(started).toEqual(['a6', 'b8', 'c1']);
    for (const name of ['b8', 'c1']) await end(name);
    await Promise.all(calls);
  });

  test('that can never fit are refused at once', async () => {
    const never = async () => 'never';
    const limiter = createLimiter<string>({ max: 10, maxPerKey: 5, ...unbounded });
    await expect(limiter.run('a', never, { weight: 11 })).rejects.toThrow('full: a');
    await expect(limiter.run('a', never, { weight: 6 })).rejects.toThrow('full: a');
    const half = createLimiter<string>({ max: 10, maxPerKey: 'rest', ...unbounded });
    await expect(half.run('a', never, { weight: 6 })).rejects.toThrow('full: a');
    expect(await half.run('a', async () => 'ran', { weight: 5 })).toBe('ran');
  });

  test('a key alone gets half of the rest, and others always find something left', () => {
    const budget = createLimiter<string>({ max: 1_000, maxPerKey: 'rest', full });
    expect(budget.tryTake('a', 501)).toBeNull();
    expect(budget.tryTake('a', 500)).not.toBeNull();
    expect(budget.tryTake('a', 1)).toBeNull();
    expect(() => budget.take('b', 251)).toThrow('full: b');
    expect(budget.tryTake('b', 250)).not.toBeNull();
    expect(budget.tryTake('c', 125)).not.toBeNull();
    expect([budget.heldBy('a'), budget.heldBy('b'), budget.heldBy('d')]).toEqual([500, 250, 0]);
  });
});

describe('what is taken', () => {
  test('is released once', () => {
    const budget = createLimiter<string>({ max: 1_000, maxPerKey: 'rest', full });
    const release = budget.take('a', 400);
    const other = budget.take('a', 100);
    release();
    release();
    expect(budget.heldBy('a')).toBe(100);
    other();
    expect([budget.heldBy('a'), budget.tryTake('b', 500) === null]).toEqual([0, false]);
  });

  test('keeps calls waiting until it is released', async () => {
    const limiter = createLimiter<string>({ max: 1, ...unbounded });
    const { started, work, end } = manualWork();
    const release = limiter.take('a');
    const call = limiter.run('b', work('b'));
    await settled();
    expect(started).toEqual([]);
    release();
    release();
    await settled();
    expect([started, limiter.tryTake('c')]).toEqual([['b'], null]);
    await end('b');
    expect(await call).toBe('b');
  });

  test('of several limiters is taken and released together, or not at all', () => {
    const [first, second] = [createLimiter<string>({ max: 2, full }), createLimiter<string>({ maxPerKey: 1, full })];
    const take = (key: string) => takeAll([() => first.take(key), () => second.take(key)]);
    const release = take('a');
    expect(() => take('a')).toThrow('full: a');
    expect([first.heldBy('a'), second.heldBy('a')]).toEqual([1, 1]);
    release();
    release();
    expect([first.heldBy('a'), second.heldBy('a')]).toEqual([0, 0]);
  });
});

describe('a call whose signal aborts', () => {
  test('while it waits leaves the queue at once, and its work never runs', async () => {
    const { limiter, call, order, start } = createQueue();
    const controller = new AbortController();
    const calls = [call('a', 'a1'), call('b', 'gone', controller.signal), call('b', 'b2')];
    expect(limiter.waiting()).toBe(3);
    controller.abort(new Error('hung up'));
    expect(await calls[1]).toBe('gone: hung up');
    expect(limiter.waiting()).toBe(2);
    await start();
    await Promise.all(calls);
    expect(order).toEqual(['a1', 'b2']);
  });

  test('before it is made is rejected even if a slot is free', async () => {
    const limiter = createLimiter<string>({ max: 1, full });
    const signal = AbortSignal.abort(new Error('hung up'));
    await expect(limiter.run('a', async () => 1, { signal })).rejects.toThrow('hung up');
    expect(await limiter.run('a', async () => 2)).toBe(2);
  });

  test('while it runs is completed', async () => {
    const limiter = createLimiter<string>({ max: 1, full });
    const controller = new AbortController();
    const gate = Promise.withResolvers<string>();
    const call = limiter.run('a', () => gate.promise, { signal: controller.signal });
    controller.abort(new Error('hung up'));
    gate.resolve('done');
    expect(await call).toBe('done');
  });

  test('lets those run who waited behind it', async () => {
    const limiter = createLimiter<string>({ max: 10, ...unbounded });
    const controller = new AbortController();
    const { started, work, end } = manualWork();
    const release = limiter.take('a', 6);
    const heavy = limiter.run('b', work('b8'), { weight: 8, signal: controller.signal });
    const light = limiter.run('c', work('c1'));
    await settled();
    expect(started).toEqual([]);
    controller.abort(new Error('hung up'));
    await expect(heavy).rejects.toThrow('hung up');
    expect(started).toEqual(['c1']);
    await end('c1');
    release();
    await light;
  });
});

test('a call that waits for too long is refused, and frees its place in the queue', async () => {
  const limiter = createLimiter<string>({ max: 1, maxQueued: 1, maxWaitMs: 1, full });
  const release = limiter.take('a');
  await expect(limiter.run('b', async () => 'never')).rejects.toThrow('full: b');
  expect(limiter.waiting()).toBe(0);
  release();
  expect(await limiter.run('b', async () => 'ran')).toBe('ran');
});

describe('while the queue is full', () => {
  test('the key that waits most loses its newest call to another key', async () => {
    const { call, order, start } = createQueue(3);
    const calls = ['a1', 'a2', 'a3', 'b1'].map((name) => call(name.charAt(0), name));
    expect(await calls[2]).toBe('a3: full: a');
    await start();
    await Promise.all(calls);
    expect(order).toEqual(['a1', 'b1', 'a2']);
  });

  test('a further call of the key that waits most is rejected', async () => {
    const { call, order, start } = createQueue(3);
    const calls = ['a1', 'a2', 'b1', 'a3'].map((name) => call(name.charAt(0), name));
    expect(await calls[3]).toBe('a3: full: a');
    await start();
    await Promise.all(calls);
    expect(order).toEqual(['a1', 'b1', 'a2']);
  });

  test('a new key is rejected if every key waits with one call', async () => {
    const { call, start } = createQueue(2);
    const calls = ['a1', 'b1', 'c1'].map((name) => call(name.charAt(0), name));
    expect(await calls[2]).toBe('c1: full: c');
    await start();
    expect(await Promise.all(calls.slice(0, 2))).toEqual(['a1', 'b1']);
  });

  test('the work of a refused call never runs, and later calls are accepted', async () => {
    const limiter = createLimiter<string>({ max: 1, maxQueued: 1, full });
    const { started, work, end } = manualWork();
    const accepted = [limiter.run('one', work('a')), limiter.run('one', work('b'))];
    await expect(limiter.run('one', work('c'))).rejects.toThrow('full: one');
    await end('a');
    const next = limiter.run('one', work('d'));
    await end('b');
    await end('d');
    expect(started).toEqual(['a', 'b', 'd']);
    await Promise.all([...accepted, next]);
  });
});
