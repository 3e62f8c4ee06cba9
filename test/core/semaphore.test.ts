/** Bounded concurrency: how many run, in which order the others follow, and who is refused. */
import { describe, expect, test } from 'vitest';
import { createKeyedSemaphore, createSemaphore } from '../../src/core/semaphore.ts';

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

const full = { maxQueued: 1, queueFull: () => new Error('full') };

describe('a semaphore', () => {
  test('runs as many calls as it has slots, and the others in their order', async () => {
    const semaphore = createSemaphore(2);
    const { started, work, end } = manualWork();
    const results = ['a', 'b', 'c', 'd'].map((name) => semaphore.run(work(name)));
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

  test('frees the slot of work that fails, and rejects with its error', async () => {
    const semaphore = createSemaphore(1);
    const { started, work, end, fail } = manualWork();
    const failing = semaphore.run(work('a'));
    const rejection = expect(failing).rejects.toThrow('a failed');
    const next = semaphore.run(work('b'));
    await settled();
    await fail('a');
    await rejection;
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(await next).toBe('b');
  });

  test('frees the slot of work that throws before it returns a promise', async () => {
    const semaphore = createSemaphore(1);
    const throws = (): Promise<never> => {
      throw new Error('at once');
    };
    await expect(semaphore.run(throws)).rejects.toThrow('at once');
    expect(await semaphore.run(async () => 'next')).toBe('next');
  });

  test('a call that comes while a slot is passed on does not overtake the queue', async () => {
    const semaphore = createSemaphore(1);
    const { started, work, end, promiseOf } = manualWork();
    const first = semaphore.run(work('a'));
    const queued = semaphore.run(work('b'));
    await settled();
    // Runs right after the semaphore has seen the end of the first call, and before the second call continues.
    const late = promiseOf('a')?.then(() => semaphore.run(work('c')));
    await end('a');
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('c');
    await Promise.all([first, queued, late]);
  });

  test('rejects a call that finds the queue full, and never runs its work', async () => {
    const semaphore = createSemaphore(1, full);
    const { started, work, end } = manualWork();
    const accepted = [semaphore.run(work('a')), semaphore.run(work('b'))];
    await expect(semaphore.run(work('c'))).rejects.toThrow('full');
    await end('a');
    const next = semaphore.run(work('d'));
    await end('b');
    await end('d');
    expect(started).toEqual(['a', 'b', 'd']);
    await Promise.all([...accepted, next]);
  });
});

describe('a keyed semaphore', () => {
  test('gives each key its own slots and its own queue', async () => {
    const semaphore = createKeyedSemaphore<string>(1, full);
    const { started, work, end } = manualWork();
    const results = ['x1', 'x2', 'y1', 'y2'].map((name) => semaphore.run(name.slice(0, 1), work(name)));
    await settled();
    expect(started).toEqual(['x1', 'y1']);
    await expect(semaphore.run('x', work('x3'))).rejects.toThrow('full');
    await end('x1');
    expect(started).toEqual(['x1', 'y1', 'x2']);
    results.push(semaphore.run('x', work('x4')));
    await settled();
    expect(started).toEqual(['x1', 'y1', 'x2']);
    for (const name of ['x2', 'x4', 'y1', 'y2']) await end(name);
    expect(await Promise.all(results)).toEqual(['x1', 'x2', 'y1', 'y2', 'x4']);
  });

  test(
    'with a queue of 0 refuses a second call of a key at once, and accepts one after the first has ' + 'ended',
    async () => {
      const semaphore = createKeyedSemaphore<number>(1, { ...full, maxQueued: 0 });
      const { work, end } = manualWork();
      const first = semaphore.run(7, work('a'));
      await expect(semaphore.run(7, work('b'))).rejects.toThrow('full');
      await end('a');
      expect(await first).toBe('a');
      expect(await semaphore.run(7, async () => 'again')).toBe('again');
    },
  );

  test('keeps to its slots while calls of the key end and begin at the same time', async () => {
    const semaphore = createKeyedSemaphore<string>(2);
    let [running, max] = [0, 0];
    const work = async (): Promise<void> => {
      running += 1;
      max = Math.max(max, running);
      await Promise.resolve();
      running -= 1;
    };
    const chain = async (): Promise<void> => {
      for (let index = 0; index < 50; index += 1) await semaphore.run('x', work);
    };
    await Promise.all(Array.from({ length: 7 }, chain));
    expect(max).toBe(2);
  });
});
