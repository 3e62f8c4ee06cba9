/** A queue whose slots are shared between keys: the order, callers who leave, and who is rejected while it is full. */
import { describe, expect, test } from 'vitest';
import { createFairQueue } from '../../src/core/fair-queue.ts';

const KEY = 'one';

/** A queue with one slot, which `busy` occupies until `start` is called, and the order in which calls then run. */
function createWorld(maxQueued = 100) {
  const queue = createFairQueue(1, { maxQueued, queueFull: () => new Error('full') });
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const busy = queue.run('busy', null, () => gate.promise);
  const call = (key: string, name: string, signal: AbortSignal | null = null): Promise<string> =>
    queue
      .run(key, signal, async () => {
        order.push(name);
        return name;
      })
      .catch((error: Error) => `${name}: ${error.message}`);
  const start = (): Promise<void> => {
    gate.resolve();
    return busy;
  };
  return { queue, order, call, start };
}

test('keys take turns, and the calls of a key run in their order', async () => {
  const { call, order, start } = createWorld();
  const calls = ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2'].map((name) => call(name.charAt(0), name));
  await start();
  await Promise.all(calls);
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test('at most as many calls run at once as there are slots', async () => {
  const queue = createFairQueue(3, { maxQueued: 100, queueFull: () => new Error('full') });
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };
  await Promise.all(Array.from({ length: 50 }, (_, index) => queue.run(String(index % 7), null, work)));
  expect([most, queue.waiting()]).toEqual([3, 0]);
});

test('a call that fails frees its slot', async () => {
  const queue = createFairQueue(1, { maxQueued: 0, queueFull: () => new Error('full') });
  await expect(queue.run(KEY, null, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await queue.run(KEY, null, async () => 'next')).toBe('next');
});

describe('a call whose signal aborts', () => {
  test('while it waits leaves the queue at once, and its work never runs', async () => {
    const { queue, call, order, start } = createWorld();
    const controller = new AbortController();
    const calls = [call('a', 'a1'), call('b', 'gone', controller.signal), call('b', 'b2')];
    expect(queue.waiting()).toBe(3);
    controller.abort(new Error('hung up'));
    expect(await calls[1]).toBe('gone: hung up');
    expect(queue.waiting()).toBe(2);
    await start();
    await Promise.all(calls);
    expect(order).toEqual(['a1', 'b2']);
  });

  test('before it is made is rejected even if a slot is free', async () => {
    const queue = createFairQueue(1, { maxQueued: 1, queueFull: () => new Error('full') });
    await expect(queue.run(KEY, AbortSignal.abort(new Error('hung up')), async () => 1)).rejects.toThrow('hung up');
    expect(await queue.run(KEY, null, async () => 2)).toBe(2);
  });

  test('while it runs is completed', async () => {
    const queue = createFairQueue(1, { maxQueued: 0, queueFull: () => new Error('full') });
    const controller = new AbortController();
    const gate = Promise.withResolvers<string>();
    const call = queue.run(KEY, controller.signal, () => gate.promise);
    controller.abort(new Error('hung up'));
    gate.resolve('done');
    expect(await call).toBe('done');
  });
});

describe('while the queue is full', () => {
  test('the key that waits most loses its newest call to another key', async () => {
    const { call, order, start } = createWorld(3);
    const calls = ['a1', 'a2', 'a3', 'b1'].map((name) => call(name.charAt(0), name));
    expect(await calls[2]).toBe('a3: full');
    await start();
    await Promise.all(calls);
    expect(order).toEqual(['a1', 'b1', 'a2']);
  });

  test('a further call of the key that waits most is rejected', async () => {
    const { call, order, start } = createWorld(3);
    const calls = ['a1', 'a2', 'b1', 'a3'].map((name) => call(name.charAt(0), name));
    expect(await calls[3]).toBe('a3: full');
    await start();
    await Promise.all(calls);
    expect(order).toEqual(['a1', 'b1', 'a2']);
  });

  test('a new key is rejected if every key waits with one call', async () => {
    const { call, start } = createWorld(2);
    const calls = ['a1', 'b1', 'c1'].map((name) => call(name.charAt(0), name));
    expect(await calls[2]).toBe('c1: full');
    await start();
    expect(await Promise.all(calls.slice(0, 2))).toEqual(['a1', 'b1']);
  });
});
